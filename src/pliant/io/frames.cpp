#include "pliant/io/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>

#include "pliant/io/fields.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

namespace {

std::span<const double> as_span(const VecX& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

/// Values of the elements of all bodies, one after the other.
struct CellValues {
  std::vector<double> von_mises, stretch, body;
};

CellValues cell_values(const Model& model, const Pose& pose, const std::vector<std::size_t>& numbers) {
  CellValues values;
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    const ElementFields fields = element_fields(model.bodies()[b], pose);
    values.von_mises.insert(values.von_mises.end(), fields.von_mises.begin(), fields.von_mises.end());
    values.stretch.insert(values.stretch.end(), fields.stretch.begin(), fields.stretch.end());
    values.body.insert(values.body.end(), fields.stretch.size(), static_cast<double>(numbers.empty() ? b : numbers[b]));
  }
  return values;
}

/// Fields with 0 in place of what is not finite.
class FiniteFields {
 public:
  /// The field itself when there is nothing to replace; valid as long as this object.
  std::span<const double> of(std::span<const double> field) {
    const auto count = std::count_if(field.begin(), field.end(), [](double value) { return !std::isfinite(value); });
    if (count == 0) return field;
    replaced_ += count;
    std::vector<double>& copy = copies_.emplace_back(field.begin(), field.end());
    for (double& value : copy)
      if (!std::isfinite(value)) value = 0;
    return copy;
  }
  std::int64_t replaced() const { return replaced_; }

 private:
  std::list<std::vector<double>> copies_;
  std::int64_t replaced_ = 0;
};

}  // namespace

FrameWriter::FrameWriter(std::filesystem::path folder, std::shared_ptr<const Model> model,
                         std::vector<FrameField> fields)
    : folder_(std::move(folder)), fields_(std::move(fields)) {
  set_model(std::move(model));
}

void FrameWriter::set_model(std::shared_ptr<const Model> model) {
  model_ = std::move(model);
  std::vector<std::vector<Index>> nodes;  // per body
  std::vector<VtuCells> cells;
  element_of_cell_.clear();
  Index element = 0;
  for (const Body& body : model_->bodies()) {
    std::vector<Index>& list = nodes.emplace_back();
    const auto elements = body.is_solid() ? body.elements->element_count() : static_cast<Index>(body.surface().size());
    if (body.rigid) {
      for (const Triangle& t : body.rigid->triangles)
        for (Index v : t) list.push_back(model_->nodes() + body.first_carried + v);
      element_of_cell_.insert(element_of_cell_.end(), body.rigid->triangles.size(), element++);
      cells.push_back({list, 3});
      continue;
    }
    if (body.rod) {
      const Index first = model_->nodes() + static_cast<Index>(model_->carried().size()) + body.first_tube;
      const RodTube tube = rod_tube(body.nodes.size(), body.rod->is_closed());
      for (const Triangle& t : tube.triangles)
        for (Index v : t) list.push_back(first + v);
      for (Index segment : tube.segments) element_of_cell_.push_back(element + segment);
      element += body.rod->stencils().count();
      cells.push_back({list, 3});
      continue;
    }
    for (Index e = 0; e < elements; ++e) element_of_cell_.push_back(element++);
    if (body.is_solid())
      list.assign(body.elements->elements().begin(), body.elements->elements().end());
    else
      for (const Triangle& t : body.surface()) list.insert(list.end(), t.begin(), t.end());
    for (Index& i : list) i += body.nodes.begin;
    cells.push_back({list, body.is_solid() ? body.elements->reference().nodes() : 3});
  }
  cells_ = VtuPackedCells(cells);
}

std::string FrameWriter::file_name(std::int64_t frame, std::string_view ending) const {
  return fmt::format("frames/frame_{:06}{}", frame, ending);
}

void FrameWriter::write(std::int64_t frame, const State& state, std::span<const ElementValues> elements,
                        std::span<const NodeValues> nodes) {
  std::filesystem::create_directories(folder_ / "frames");
  const VecX displacement = state.x - model_->rest();
  const CellValues values = cell_values(*model_, {state.x, state.activation}, body_numbers_);
  std::vector<VtuField> at_points, in_cells;
  for (FrameField field : fields_) {
    switch (field) {
      case FrameField::displacement:
        at_points.push_back({"displacement", 3, as_span(displacement)});
        break;
      case FrameField::velocity:
        at_points.push_back({"velocity", 3, as_span(state.v)});
        break;
      case FrameField::von_mises:
        in_cells.push_back({"von_mises", 1, values.von_mises});
        break;
      case FrameField::stretch:
        in_cells.push_back({"stretch", 1, values.stretch});
        break;
      case FrameField::body:
        in_cells.push_back({"body", 1, values.body});
        break;
    }
  }
  for (const ElementValues& field : elements) in_cells.push_back({std::string(field.name), 1, field.values});
  for (const NodeValues& field : nodes) at_points.push_back({std::string(field.name), field.components, field.values});
  const Sharing* sharing = model_->sharing();
  if (sharing) at_points.push_back({"node", 1, sharing->nodes()});
  std::list<std::vector<double>> widened;
  if (!model_->carried().empty() || !model_->tube_nodes().empty()) {
    for (VtuField& field : in_cells) field.values = by_cell(std::get<std::span<const double>>(field.values), widened);
    for (VtuField& field : at_points)
      field.values = as_drawn(std::get<std::span<const double>>(field.values), field.components,
                              field.name == "displacement" || field.name == "velocity", widened);
  }
  FiniteFields finite;
  for (std::vector<VtuField>* fields : {&at_points, &in_cells})
    for (VtuField& field : *fields)
      if (auto* numbers = std::get_if<std::span<const double>>(&field.values)) *numbers = finite.of(*numbers);
  VtuGrid grid;
  const VecX points = model_->drawn(state.x);
  grid.points = finite.of(as_span(points));
  grid.packed_cells = &cells_;
  grid.point_fields = at_points;
  grid.cell_fields = in_cells;
  const auto piece = [](int rank) { return fmt::format("_{}.vtu", rank); };
  write_vtu(folder_ / file_name(frame, sharing ? piece(sharing->rank()) : ".vtu"), grid);
  not_finite_ += finite.replaced();
  add_to_list(frame, state.time, sharing ? ".pvtu" : ".vtu");
  if (!sharing || !sharing->is_first()) return;
  std::vector<std::string> files;
  for (int rank = 0; rank < sharing->size(); ++rank)
    files.push_back(std::filesystem::path(file_name(frame, piece(rank))).filename().string());
  write_pvtu(folder_ / file_name(frame, ".pvtu"), grid, files);
}

/// Values of elements, of which a rigid body has one and a rod as many as segments, for each of the cells.
std::span<const double> FrameWriter::by_cell(std::span<const double> of_elements,
                                             std::list<std::vector<double>>& kept) const {
  std::vector<double>& values = kept.emplace_back();
  for (Index e : element_of_cell_) values.push_back(of_elements[static_cast<std::size_t>(e)]);
  return values;
}

/// Values of nodes, and behind them those of what the nodes carry, sums of them, or zero where they are no motion, and
/// of the corners of tubes.
std::span<const double> FrameWriter::as_drawn(std::span<const double> of_nodes, int components, bool is_motion,
                                              std::list<std::vector<double>>& kept) const {
  std::vector<double>& values = kept.emplace_back(of_nodes.begin(), of_nodes.end());
  for (const CarriedPoint& point : model_->carried())
    for (int c = 0; c < components; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < 4 && is_motion; ++k)
        sum += point.weights[k] * of_nodes[static_cast<std::size_t>(components * point.nodes[k] + c)];
      values.push_back(sum);
    }
  for (Index i : model_->tube_nodes())
    for (int c = 0; c < components; ++c) values.push_back(of_nodes[at(components * i + c)]);
  return values;
}

void FrameWriter::add_existing(std::int64_t frame, double time) {
  add_to_list(frame, time, std::filesystem::exists(folder_ / file_name(frame, ".pvtu")) ? ".pvtu" : ".vtu");
}

void FrameWriter::add_to_list(std::int64_t frame, double time, std::string_view ending) {
  list_.push_back({time, file_name(frame, ending)});
}

void FrameWriter::write_list() const { write_pvd(folder_ / "result.pvd", list_); }

}  // namespace pliant
