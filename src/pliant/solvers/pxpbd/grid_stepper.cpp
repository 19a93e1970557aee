#include "pliant/solvers/pxpbd/grid_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/sim/contact/contact_step.hpp"

namespace pliant {

namespace {

constexpr Index kGridGrain = 4;
using pbd::kFirstRounds, pbd::kLastSweeps;

/// The longest edges of the tetrahedra, on average. Only vertices carry mass to the grid: where its cells are smaller
/// than the faces of a body, others slip through between them.
double typical_longest_edge(const Model& model) {
  double sum = 0;
  std::size_t count = 0;
  for (const Body& body : model.bodies()) {
    if (!body.is_solid()) continue;
    const auto X = [&](Index i) { return body.mesh->vertices()[static_cast<std::size_t>(i)]; };
    for (const Tet& t : body.mesh->tets()) {
      double longest = 0;
      for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = a + 1; b < 4; ++b) longest = std::max(longest, (X(t[a]) - X(t[b])).norm());
      sum += longest;
      ++count;
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : 1;
}

std::vector<Index> tetrahedra(const pbd::Elements& elements) {
  std::vector<Index> all;
  for (Index e = 0; e < elements.count(); ++e)
    all.insert(all.end(), elements.nodes(e).begin(), elements.nodes(e).end());
  return all;
}

/// Bodies that the grid alone keeps apart would pass through each other in a step that ends without it.
pbd::CorrectionOptions correction_of(const Model& model, pbd::CorrectionOptions options) {
  const bool only_grid = model.contact() && !model.contact()->options.bodies && model.bodies().size() > 1;
  if (options.kind == pbd::CorrectionKind::contact && only_grid) options.kind = pbd::CorrectionKind::rescue;
  return options;
}

}  // namespace

GridPxpbdStepper::GridPxpbdStepper(std::shared_ptr<const Model> model, const GridPxpbdOptions& options)
    : Stepper(std::move(model), ProblemOptions{}),
      options_(options),
      elements_(*this->model()),
      local_(pbd::make_local_update(elements_, options.local)),
      grid_(options.spacing > 0 ? options.spacing : typical_longest_edge(*this->model())),
      gradients_(this->model()->nodes(), tetrahedra(elements_)),
      colours_(static_cast<std::size_t>(elements_.count()), -1) {
  if (options.correction.kind != pbd::CorrectionKind::none)
    correction_.emplace(potential(), correction_of(*this->model(), options.correction));
  if (!this->model()->contact()) return;
  contact_.emplace(this->model()->contact());
  potential_ = std::make_unique<IncrementalPotential>(this->model(), ProblemOptions{});
}

std::vector<double> GridPxpbdStepper::memory() const {
  std::vector<double> memory(colours_.begin(), colours_.end());
  if (correction_) {
    const std::vector<double> of_correction = correction_->memory();
    memory.insert(memory.end(), of_correction.begin(), of_correction.end());
  }
  return memory;
}

void GridPxpbdStepper::recall(std::span<const double> memory) {
  if (memory.empty()) {
    std::fill(colours_.begin(), colours_.end(), -1);
    if (correction_) correction_->recall({});
    return;
  }
  const double most = static_cast<double>(colours_.size());
  const std::span<const double> colours = memory.first(std::min(memory.size(), colours_.size()));
  const std::span<const double> rest = memory.subspan(colours.size());
  if (colours.size() != colours_.size() || (!correction_ && !rest.empty()) ||
      !std::all_of(colours.begin(), colours.end(), [&](double c) { return c >= -1 && c < most; }))
    throw InputError(fmt::format("the saved memory of the solver '{}' belongs to another model", options_.name));
  std::transform(colours.begin(), colours.end(), colours_.begin(), [](double c) { return static_cast<Index>(c); });
  if (correction_) correction_->recall(rest);
}

void GridPxpbdStepper::advance(Solution& solution, StepReport& report) {
  State moved = {problem().x_n, problem().v_n, problem().start, 0, problem().start_activation, problem().grabs};
  report.outcome = Outcome::budget_spent;
  take_substeps(moved, report);
  if (correction_) {
    swept_.x = moved.x;
    swept_.energy = potential().gradient(swept_.x, swept_.gradient);
    const int steps = correction_->end(swept_, report);
    report.figures.push_back({"corrections", static_cast<double>(steps)});
    std::swap(solution.x, swept_.x);
    std::swap(solution.gradient, swept_.gradient);
    solution.energy = swept_.energy;
    solution.is_measured = true;
    if (steps > 0) return;
  } else {
    std::swap(solution.x, moved.x);
  }
  std::swap(solution.v, moved.v);
}

std::string GridPxpbdStepper::remedy() const {
  return correction_ ? "take smaller steps, or use the solver pod-newton"
                     : "set correction = \"contact\", or take smaller steps";
}

/// Leaves where they lead in `moved`.
void GridPxpbdStepper::take_substeps(State& moved, StepReport& report) {
  const double h = problem().time_step;
  double remaining = h;
  IterationRecord last;
  for (int s = 0; remaining > 1e-9 * h; ++s) {
    const double dt = substep_length(moved, remaining);
    if (s == options_.most_substeps || !(dt > 0)) {
      report.end(
          Outcome::diverged,
          fmt::format("a vertex moves so fast that more than {} substeps of {} cells would be needed; remedy: {}",
                      options_.most_substeps, options_.cfl, remedy()));
      break;
    }
    if (!substep(moved, dt, last, report)) {
      report.end(Outcome::diverged,
                 fmt::format("the positions ran away in substep {} of {:.3g} s; remedy: {}", s + 1, dt, remedy()));
      break;
    }
    remaining -= dt;
    if (contact_ && !contact_->arrived()) break;  // obstacles would begin the next substep where bodies are
  }
  if (contact_) potential().contact()->place_obstacles(report.succeeded() ? 1 : 1 - std::max(0.0, remaining) / h);
  report.residuals.primal = last.primal;
  report.residuals.secondary = last.secondary;
  report.figures = {{"grid_force", last.force}, {"grid_acceleration", last.acceleration}};
  if (contact_) report.figures.push_back({"held_back", contact_->held_back()});
}

/// No vertex shall cross more than `cfl` cells: at its present speed, or at what gravity makes of it until then. Two
/// substeps of equal length are better than a long and a very short one.
double GridPxpbdStepper::substep_length(const State& state, double remaining) const {
  double fastest = 0;
  for (Index i = 0; i < model()->nodes(); ++i) fastest = std::max(fastest, node(state.v, i).norm());
  fastest += remaining * model()->gravity(problem().end).norm();
  const double count = std::ceil(remaining * fastest / (options_.cfl * grid_.spacing()));
  return count <= 1 ? remaining : remaining / count;
}

bool GridPxpbdStepper::substep(State& state, double h, IterationRecord& record, StepReport& report) {
  h_ = h;
  {
    const Stopwatch watch(report.seconds.assembly);
    if (!grid_.cover(state.x)) return false;
    boundary_ = boundary_state(model()->pins(), model()->scripts(), model()->rest(), state.time + h);
    activation_ = model()->activation(state, state.time + h);
    prepare_nodes(state, h);
    prepare_boundary(state, h);
    prepare_contacts(state.time, h);
    springs_.begin_step(state.grabs, model()->ties(), state.x, state.time + h, h, &grid_);
    prepare_elements();
    local_->begin_step({h, state.x, activation_, state.activation});
  }
  if (contact_) {
    potential_->begin_step(state, h);
    contact_->begin_step(*potential_->contact(), potential_->problem(), unknowns(), &grid_);
    for (int k = 0; k < kFirstRounds; ++k) contact_round();
  }
  for (int k = 0; k < options_.iterations; ++k) {
    StepControl::at_iteration(report.iterations);
    if (options_.history) {
      measure(record);
      report.history.push_back(record);
    }
    const Stopwatch watch(report.seconds.solve);
    sweep();
    ++report.iterations;
  }
  if (contact_) finish_contact(report);
  const Stopwatch watch(report.seconds.assembly);
  measure(record);
  end_substep(state, h);
  return state.x.allFinite() && std::isfinite(record.force);
}

/// Masses, velocities and predictions x~ = x^0 + h v + h^2 f / m of the grid nodes. Nodes that only vertices at the far
/// end of a cell see have next to no mass; they go with the flow, but must not make A large.
void GridPxpbdStepper::prepare_nodes(const State& state, double h) {
  constexpr double kTiny = 1e-10;
  const VecX& mass = model()->mass().lumped();
  damped_ = state.v;
  for (const Body& body : model()->bodies())
    damped_.segment(3 * Eigen::Index(body.nodes.begin), 3 * Eigen::Index(body.nodes.size())) /=
        1 + h * body.damping.mass;
  gradients_.fit(state.x, damped_, mass, grid_.spacing(), C_);
  transfer_to_grid(grid_, state.x, damped_, C_, mass, mass_, velocity_);
  const auto count = static_cast<std::size_t>(grid_.node_count());
  nodes_.resize(4 * count);
  axes_.assign(3 * count, 1.0);
  predicted_.resize(count);
  force_.assign(count, Vec3::Zero());
  for (Index p = 0; p < model()->nodes(); ++p) {
    const pbd::GridPoint& point = grid_.points()[static_cast<std::size_t>(p)];
    for (std::size_t c = 0; c < 8; ++c)
      force_[static_cast<std::size_t>(point.nodes[c])] += point.weights[c] * node(problem().explicit_force, p);
  }
  const double least = kTiny * mass.mean();
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3& origin = grid_.position(static_cast<Index>(i));
    const bool light = !(mass_[i] > least);
    predicted_[i] = origin + h * velocity_[i];
    if (!light) predicted_[i] += h * h / mass_[i] * force_[i];
    Vec3::Map(nodes_.data() + 4 * i) = predicted_[i];
    nodes_[4 * i + 3] = light ? 0 : 1 / mass_[i];
  }
}

/// A grid node that carries a prescribed vertex moves as that does, with the mean of several.
void GridPxpbdStepper::prepare_boundary(const State& state, double h) {
  held_.assign(axes_.size(), {});
  bool any = false;
  const auto hold = [&](Index p, int axis, double target) {
    const pbd::GridPoint& point = grid_.points()[static_cast<std::size_t>(p)];
    any = true;
    for (std::size_t c = 0; c < 8; ++c) {
      if (!(point.weights[c] > 0)) continue;
      Held& h_node = held_[3 * static_cast<std::size_t>(point.nodes[c]) + static_cast<std::size_t>(axis)];
      h_node.weight += point.weights[c];
      h_node.displacement += point.weights[c] * (target - state.x[3 * p + axis]);
    }
  };
  for (Index p = 0; p < model()->nodes(); ++p)
    for (int axis = 0; axis < 3; ++axis)
      if (boundary_.fixed[3 * static_cast<std::size_t>(p) + static_cast<std::size_t>(axis)])
        hold(p, axis, boundary_.positions[3 * p + axis]);
  for (std::size_t s = 0; s < boundary_.penalised.size(); ++s)
    for (int axis = 0; axis < 3; ++axis) hold(boundary_.penalised[s], axis, boundary_.targets[s][axis]);
  if (!any) return;
  for (std::size_t i = 0; i < mass_.size(); ++i) {
    int count = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Held& of = held_[3 * i + axis];
      if (of.weight == 0) continue;
      ++count;
      axes_[3 * i + axis] = 0;
      const double x =
          grid_.position(static_cast<Index>(i))[static_cast<Eigen::Index>(axis)] + of.displacement / of.weight;
      nodes_[4 * i + axis] = x;
      predicted_[i][static_cast<Eigen::Index>(axis)] = x;
      velocity_[i][static_cast<Eigen::Index>(axis)] = of.displacement / (of.weight * h);
    }
    if (count == 3) nodes_[4 * i + 3] = 0;
  }
}

void GridPxpbdStepper::prepare_contacts(double time, double h) {
  contacts_.clear();
  if (!model()->colliders()) return;
  const auto& colliders = model()->colliders()->colliders();
  // A vertex stops where all nodes of its cell do: half a cell outside, it does so on the surface, on average.
  const double margin = 0.5 * grid_.spacing();
  for (std::size_t c = 0; c < colliders.size(); ++c) {
    const RigidPose before = colliders[c].motion.pose(time), after = colliders[c].motion.pose(time + h);
    for (Index i = 0; i < grid_.node_count(); ++i) {
      if (nodes_[4 * static_cast<std::size_t>(i) + 3] == 0) continue;
      const Vec3& x = grid_.position(i);
      const Distance d = distance(colliders[c], before, x);
      if (d.value < margin) contacts_.push_back({i, c, d.normal, after.from_rest(before.to_rest(x)) - x, 0});
    }
  }
  push_out();
}

/// The grid nodes of every element with the gradients of F by them, colours over these nodes, and metrics.
void GridPxpbdStepper::prepare_elements() {
  constexpr std::size_t kMost = 32;
  const auto count = static_cast<std::size_t>(elements_.count());
  slots_.resize(kMost * count);
  slot_gradients_.resize(kMost * count);
  stencil_start_.assign(count + 1, 0);
  for_chunks(elements_.count(), 256, [&](Index begin, Index end) {
    for (Index e = begin; e < end; ++e) {
      Index* nodes = slots_.data() + kMost * static_cast<std::size_t>(e);
      Vec3* sums = slot_gradients_.data() + kMost * static_cast<std::size_t>(e);
      std::size_t used = 0;
      for (int a = 0; a < 4; ++a) {
        const pbd::GridPoint& point =
            grid_.points()[static_cast<std::size_t>(elements_.nodes(e)[static_cast<std::size_t>(a)])];
        const Vec3 g = elements_.gradient(e, a);
        for (std::size_t c = 0; c < 8; ++c) {
          const std::size_t k = static_cast<std::size_t>(std::find(nodes, nodes + used, point.nodes[c]) - nodes);
          if (k == used) {
            nodes[used] = point.nodes[c];
            sums[used++] = Vec3::Zero();
          }
          sums[k] += point.weights[c] * g;
        }
      }
      stencil_start_[static_cast<std::size_t>(e) + 1] = static_cast<Index>(used);
    }
  });
  for (std::size_t e = 0; e < count; ++e) stencil_start_[e + 1] += stencil_start_[e];
  stencils_.resize(static_cast<std::size_t>(stencil_start_.back()));
  stencil_gradients_.resize(stencils_.size());
  for (std::size_t e = 0; e < count; ++e) {
    const auto from = static_cast<std::size_t>(stencil_start_[e]), to = static_cast<std::size_t>(stencil_start_[e + 1]);
    std::copy_n(slots_.begin() + static_cast<std::ptrdiff_t>(kMost * e), to - from,
                stencils_.begin() + static_cast<std::ptrdiff_t>(from));
    std::copy_n(slot_gradients_.begin() + static_cast<std::ptrdiff_t>(kMost * e), to - from,
                stencil_gradients_.begin() + static_cast<std::ptrdiff_t>(from));
  }
  pliant::colour_elements(grid_.node_count(), stencil_start_, stencils_, colours_);
  elements_.sort(colours_);
  for_chunks(static_cast<Index>(elements_.batches().size()), 16, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      pbd::ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
      for (int p = 0; p < kBatch; ++p) {
        const auto e = static_cast<std::size_t>(batch.elements[p]);
        Mat3 A = Mat3::Zero();
        for (auto k = static_cast<std::size_t>(stencil_start_[e]); k < static_cast<std::size_t>(stencil_start_[e + 1]);
             ++k)
          A += nodes_[4 * static_cast<std::size_t>(stencils_[k]) + 3] * stencil_gradients_[k] *
               stencil_gradients_[k].transpose();
        batch.set_metric(p, A);
      }
    }
  });
  vertices_.resize(4 * static_cast<std::size_t>(model()->nodes()));
}

void GridPxpbdStepper::sweep() {
  for (Index colour = 0; colour < elements_.colours(); ++colour) {
    const Range range = elements_.colour(colour);
    for_chunks(range.size(), kGridGrain, [&](Index begin, Index end) {
      for (Index b = range.begin + begin; b < range.begin + end; ++b) {
        const pbd::ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
        Batch9 F, Q;
        gather(batch, F);
        local_->update(b, F, Q);
        scatter(batch, Q);
      }
    });
  }
  springs_.update(nodes_.data(), axes_.data());
  push_out();
  if (contact_) contact_round();
}

void GridPxpbdStepper::contact_round() {
  contact_->visit(unknowns());
  contact_->follow(unknowns());
}

/// What is prescribed must arrive: where bodies are still in its way, sweeps go on.
void GridPxpbdStepper::finish_contact(StepReport& report) {
  for (int k = 0; k < kLastSweeps && !contact_->arrived(); ++k) {
    sweep();
    ++report.iterations;
  }
  if (!contact_->arrived()) report.end(Outcome::iteration_limit, contact_->describe_progress());
}

/// The corners of a batch's elements are interpolated first; no other batch of the colour has any of them.
void GridPxpbdStepper::gather(const pbd::ElementBatch& batch, Batch9& F) {
  for (int p = 0; p < batch.count; ++p)
    for (int a = 0; a < 4; ++a) {
      const auto v = static_cast<std::size_t>(batch.nodes[a][p]);
      const pbd::GridPoint& point = grid_.points()[v];
      double x = 0, y = 0, z = 0;
      for (std::size_t c = 0; c < 8; ++c) {
        const double* n = nodes_.data() + 4 * static_cast<std::size_t>(point.nodes[c]);
        x += point.weights[c] * n[0];
        y += point.weights[c] * n[1];
        z += point.weights[c] * n[2];
      }
      double* out = vertices_.data() + 4 * v;
      out[0] = x;
      out[1] = y;
      out[2] = z;
    }
  pbd::gather_gradients(vertices_.data(), batch, F);
}

void GridPxpbdStepper::scatter(const pbd::ElementBatch& batch, const Batch9& Q) {
  for (int p = 0; p < batch.count; ++p) {
    const auto e = static_cast<std::size_t>(batch.elements[p]);
    for (auto k = static_cast<std::size_t>(stencil_start_[e]); k < static_cast<std::size_t>(stencil_start_[e + 1]);
         ++k) {
      const auto i = static_cast<std::size_t>(stencils_[k]);
      const Vec3& g = stencil_gradients_[k];
      double* n = nodes_.data() + 4 * i;
      for (std::size_t r = 0; r < 3; ++r) {
        const int row = static_cast<int>(r);
        n[r] += n[3] * axes_[3 * i + r] * (Q[row][p] * g[0] + Q[3 + row][p] * g[1] + Q[6 + row][p] * g[2]);
      }
    }
  }
}

/// Contacts as local problems with an unknown push >= 0, exact for one obstacle at a node.
void GridPxpbdStepper::push_out() {
  for (Contact& contact : contacts_) {
    auto x = Vec3::Map(nodes_.data() + 4 * static_cast<std::size_t>(contact.node));
    const double depth = (x - grid_.position(contact.node) - contact.surface).dot(contact.normal) - contact.push;
    const double push = std::max(0.0, -depth);
    if (push == contact.push) continue;
    for (int axis = 0; axis < 3; ++axis)
      x[axis] += axes_[3 * static_cast<std::size_t>(contact.node) + static_cast<std::size_t>(axis)] *
                 (push - contact.push) * contact.normal[axis];
    contact.push = push;
  }
}

/// The residual of backward Euler over the grid's unknowns, and the two of the system that is solved.
void GridPxpbdStepper::measure(IterationRecord& record) {
  const std::size_t count = mass_.size();
  std::vector<double>&stress = measured_.stress, &multiplier = measured_.multiplier;
  std::vector<double>&secondary = measured_.secondary, &energy = measured_.energy;
  std::vector<Vec3>&truth = measured_.truth, &primal = measured_.primal;
  for (auto* per_vertex : {&stress, &multiplier})
    per_vertex->assign(3 * static_cast<std::size_t>(model()->nodes()), 0.0);
  for (auto* per_batch : {&secondary, &energy}) per_batch->assign(elements_.batches().size(), 0.0);
  for (Index colour = 0; colour < elements_.colours(); ++colour) {
    const Range range = elements_.colour(colour);
    for_chunks(range.size(), kGridGrain, [&](Index begin, Index end) {
      for (Index b = range.begin + begin; b < range.begin + end; ++b) {
        const pbd::ElementBatch& batch = elements_.batches()[static_cast<std::size_t>(b)];
        Batch9 F, Q, P;
        Batch<1> psi;
        double squares[kBatch];
        gather(batch, F);
        local_->stress(b, F, psi, P);
        for (int p = 0; p < batch.count; ++p) {
          energy[static_cast<std::size_t>(b)] += batch.volume[0][p] * psi[0][p];
          for (int c = 0; c < 9; ++c) P[c][p] *= -h_ * h_ * batch.volume[0][p];
        }
        pbd::scatter_forces(batch, P, stress.data());
        if (!options_.history) continue;
        local_->residual(b, F, Q, squares);
        pbd::scatter_forces(batch, Q, multiplier.data());
        for (int p = 0; p < batch.count; ++p) secondary[static_cast<std::size_t>(b)] += squares[p];
      }
    });
  }
  truth.resize(count);
  for (std::size_t i = 0; i < count; ++i) truth[i] = mass_[i] * (Vec3::Map(nodes_.data() + 4 * i) - predicted_[i]);
  for (const Contact& contact : contacts_)
    truth[static_cast<std::size_t>(contact.node)] -=
        mass_[static_cast<std::size_t>(contact.node)] * contact.push * contact.normal;
  const auto add_impulse = [&](Index i, int axis, double impulse) {
    truth[static_cast<std::size_t>(i)][axis] += impulse;
  };
  springs_.for_impulses(add_impulse);
  if (contact_) contact_->for_impulses(add_impulse);
  primal = truth;
  for (std::size_t p = 0; p < grid_.points().size(); ++p) {
    const pbd::GridPoint& point = grid_.points()[p];
    for (std::size_t c = 0; c < 8; ++c) {
      truth[static_cast<std::size_t>(point.nodes[c])] -= point.weights[c] * Vec3::Map(stress.data() + 3 * p);
      primal[static_cast<std::size_t>(point.nodes[c])] -= point.weights[c] * Vec3::Map(multiplier.data() + 3 * p);
    }
  }
  double force2 = 0, primal2 = 0, acceleration = 0, sum = 0, potential = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (nodes_[4 * i + 3] == 0) continue;
    const Vec3 free(axes_[3 * i], axes_[3 * i + 1], axes_[3 * i + 2]);
    force2 += truth[i].cwiseProduct(free).squaredNorm();
    primal2 += primal[i].cwiseProduct(free).squaredNorm();
    acceleration = std::max(acceleration, truth[i].cwiseProduct(free).cwiseAbs().maxCoeff() / mass_[i]);
    potential += 0.5 * mass_[i] * (Vec3::Map(nodes_.data() + 4 * i) - predicted_[i]).squaredNorm();
  }
  for (double s : secondary) sum += s;
  potential /= h_ * h_;
  for (double e : energy) potential += e;
  const double h2 = h_ * h_;
  record.energy = potential;
  record.force = std::sqrt(force2) / h2;
  record.acceleration = acceleration / h2;
  record.primal = options_.history ? std::sqrt(primal2) / h2 : 0;
  record.secondary = std::sqrt(sum);
  record.alpha = 1;
}

/// Velocities of the nodes, with friction where they were pushed out, carry the vertices.
void GridPxpbdStepper::end_substep(State& state, double h) {
  for (std::size_t i = 0; i < mass_.size(); ++i)
    velocity_[i] = (Vec3::Map(nodes_.data() + 4 * i) - grid_.position(static_cast<Index>(i))) / h;
  for (const Contact& contact : contacts_) {
    const double friction = model()->colliders()->colliders()[contact.collider].friction;
    if (contact.push <= 0 || friction <= 0) continue;
    Vec3& v = velocity_[static_cast<std::size_t>(contact.node)];
    const Vec3 relative = v - contact.surface / h;
    const Vec3 tangent = relative - relative.dot(contact.normal) * contact.normal;
    const double speed = tangent.norm();
    if (speed > 0) v -= std::min(1.0, friction * contact.push / (h * speed)) * tangent;
  }
  state.activation = activation_;
  if (contact_) {  // the vertices have followed already, as far as they could
    state.v = (contact_->positions() - state.x) / h;
    state.x = contact_->positions();
    state.time += h;
    return;
  }
  for_chunks(model()->nodes(), 1024, [&](Index begin, Index end) {
    for (Index p = begin; p < end; ++p) {
      const pbd::GridPoint& point = grid_.points()[static_cast<std::size_t>(p)];
      Vec3 v = Vec3::Zero();
      for (std::size_t c = 0; c < 8; ++c) v += point.weights[c] * velocity_[static_cast<std::size_t>(point.nodes[c])];
      node(state.v, p) = v;
      node(state.x, p) += h * v;
    }
  });
  // Prescribed vertices are where they belong, not only near it.
  const auto place = [&](Index p, int axis, double target) {
    state.v[3 * p + axis] += (target - state.x[3 * p + axis]) / h;
    state.x[3 * p + axis] = target;
  };
  for (Index p = 0; p < model()->nodes(); ++p)
    for (int axis = 0; axis < 3; ++axis)
      if (boundary_.fixed[3 * static_cast<std::size_t>(p) + static_cast<std::size_t>(axis)])
        place(p, axis, boundary_.positions[3 * p + axis]);
  for (std::size_t s = 0; s < boundary_.penalised.size(); ++s)
    for (int axis = 0; axis < 3; ++axis) place(boundary_.penalised[s], axis, boundary_.targets[s][axis]);
  state.time += h;
}

}  // namespace pliant
