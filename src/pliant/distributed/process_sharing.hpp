#pragma once

#include <utility>

#include "pliant/distributed/model_part.hpp"
#include "pliant/distributed/shared_nodes.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

/// What a process has and has done, for the summary of a run.
struct ProcessWork {
  double nodes = 0, copies_of_others = 0, elements = 0, neighbours = 0;
  double messages = 0, bytes = 0, reductions = 0;
  double cpu_seconds = 0, waiting_seconds = 0;  ///< of all threads; in sums and exchanges of ours, others not counted
  double peak_bytes = 0;                        ///< of memory
};

/// The same as named numbers.
std::vector<std::pair<std::string, double>> figures(const ProcessWork& work);

/// A part of a model among processes that MPI connects.
class ProcessSharing final : public Sharing {
 public:
  ProcessSharing(Team& team, const ModelPart& part);

  int rank() const override { return team_.rank(); }
  int size() const override { return team_.size(); }
  std::span<const Index> nodes() const override { return nodes_; }
  Index all_nodes() const override { return all_nodes_; }
  std::span<const std::uint8_t> owned() const override { return owned_; }
  const VecX& lumped_mass() const override { return lumped_; }
  const VecX& consistent_mass() const override { return consistent_; }
  void watch(const StepControl* control) override { control_ = control; }

  void sum_copies(VecX& v) override { shared_.sum_copies(v); }
  void update_copies(VecX& v) { shared_.update_copies(v); }
  double dot(const VecX& a, const VecX& b) override { return shared_.dot(a, b); }
  using Sharing::sum;
  void sum(std::span<double> values) override { team_.sum(values); }
  double maximum(double value) override { return team_.maximum(value); }
  double minimum(double value) override { return team_.minimum(value); }
  double sum_value(double value) override;
  bool agree(bool says) override { return team_.agree(says); }
  void broadcast(std::span<double> values) override { team_.broadcast(values); }
  void gather(const VecX& part, VecX& whole) override;
  void scatter(const VecX& whole, VecX& part) override;
  void on_first(const std::function<void()>& work) override;
  std::unique_ptr<LinearSystem> make_system(StepFunction& function, const LinearOptions& options) override;

  Team& team() { return team_; }
  /// Where each node stands in vectors and matrices over all processes: those of process 0 first.
  const std::vector<Index>& rows() const { return rows_; }
  Index first_row() const { return first_row_; }
  Index owned_count() const { return static_cast<Index>(own_nodes_.size()); }

  /// Once there is a model of this part.
  void set_masses(const Mass& mass);
  /// Of all processes, on the first.
  std::vector<ProcessWork> work(const Model& model);

 private:
  /// Walks through the whole model's nodes in pieces that the first can hold: calls piece(begin, end, first, last) with
  /// a range of their numbers and which of own_nodes_ lie in it.
  template <class Piece>
  void in_pieces(Piece&& piece) const;

  Team& team_;
  SharedNodes shared_;
  Index all_nodes_;
  std::vector<Index> nodes_;
  std::vector<std::uint8_t> owned_;
  std::vector<std::pair<Index, Index>> own_nodes_;  ///< those owned: number in the whole model, number here; ascending
  std::vector<Index> rows_;
  Index first_row_ = 0;
  VecX lumped_, consistent_;
  const StepControl* control_ = nullptr;
  std::size_t neighbours_;
};

}  // namespace pliant
