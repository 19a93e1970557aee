#pragma once

#include <filesystem>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "pliant/mesh/formats/vtu_writer.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

/// frames/frame_000012.vtu and the list result.pvd that makes a film of them. Where the model is a part of a larger
/// one, every process writes frame_000012_3.vtu, with the numbers of its nodes in the whole model as the field `node`,
/// and the first frame_000012.pvtu, which lists them.
class FrameWriter {
 public:
  FrameWriter(std::filesystem::path folder, std::shared_ptr<const Model> model, std::vector<FrameField> fields);

  /// What states of later frames belong to.
  void set_model(std::shared_ptr<const Model> model);
  /// Of a part: the number of each body among those of the scene.
  void set_body_numbers(std::vector<std::size_t> numbers) { body_numbers_ = std::move(numbers); }
  /// `elements` and `nodes`: fields that the stepper has to show. Frames hold finite numbers only, as readers of VTU
  /// expect: any others are written as 0 and counted.
  void write(std::int64_t frame, const State& state, std::span<const ElementValues> elements = {},
             std::span<const NodeValues> nodes = {});
  /// A frame that an earlier run has written, on one machine or several.
  void add_existing(std::int64_t frame, double time);
  /// Values written as 0 because they were not finite, with those of an earlier run.
  std::int64_t not_finite() const { return not_finite_; }
  void add_not_finite(std::int64_t count) { not_finite_ += count; }
  /// Writes result.pvd with the frames so far.
  void write_list() const;

 private:
  std::string file_name(std::int64_t frame, std::string_view ending) const;
  void add_to_list(std::int64_t frame, double time, std::string_view ending);
  std::span<const double> by_cell(std::span<const double> of_elements, std::list<std::vector<double>>& kept) const;
  std::span<const double> as_drawn(std::span<const double> of_nodes, int components, bool is_motion,
                                   std::list<std::vector<double>>& kept) const;

  std::filesystem::path folder_;
  std::shared_ptr<const Model> model_;
  std::vector<FrameField> fields_;
  VtuPackedCells cells_;  ///< of all bodies, with global numbers of nodes and, behind them, of all else that is drawn
  std::vector<Index> element_of_cell_;
  std::vector<std::size_t> body_numbers_;
  std::vector<PvdFrame> list_;
  std::int64_t not_finite_ = 0;
};

}  // namespace pliant
