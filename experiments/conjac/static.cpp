// conjac, sections 1, 3 and 5: shapes at rest beside the full method's and beside a reduced basis, what the start
// costs, the string of section 3, the inertia that dynamic nodes carry, and the sizes of Table 1.

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "experiments/conjac/bars.hpp"
#include "experiments/conjac/conjac.hpp"
#include "experiments/conjac/plain.hpp"
#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"

namespace pliant::experiments {

namespace {

constexpr double kStaticSize = 0.15;  // the largest that the paper's "5 to 15 cm" allows

/// The body, rubber of E = 3e4 and nu = 0.49, stood on end so that it sags, its lowest tenth held, under gravity; or
/// free in space.
std::shared_ptr<const Model> standing(const MeshData& mesh, bool held) {
  BodyOptions body;
  MeshData data = table_top(mesh, kStaticSize);
  Vec3 high = Vec3::Zero();
  for (const Vec3& p : data.vertices) high = high.cwiseMax(p);
  Eigen::Index longest = 0;
  high.maxCoeff(&longest);
  for (Vec3& p : data.vertices) p = Vec3(p[(longest + 2) % 3], p[longest], p[(longest + 1) % 3]);
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("stable-neo-hookean"), lame_from_young(3e4, 0.49)};
  ModelBuilder builder;
  if (held) builder.set_gravity({0, -9.81, 0});
  builder.add_body(body);
  std::vector<Index> base;
  for (std::size_t i = 0; i < body.mesh->vertices().size(); ++i)
    if (body.mesh->vertices()[i].y() < 0.1 * kStaticSize) base.push_back(static_cast<Index>(i));
  if (held) builder.add_pin({"base", base});
  return builder.build();
}

void decide_rest(Context& context, const std::shared_ptr<const Model>& model, const std::vector<int>& counts,
                 double h) {
  const State rest = resting_state(model);
  const auto stop = [&] { return context.stopped(); };
  // How it comes to rest does not matter: strongly damped, in large steps.
  const Settled vanilla = settle(model, "linearly-implicit", {{"beta", 3.7}}, rest, kStaticSize, h, stop);
  const double sag = farthest_node(vanilla.state.x, model->rest()) / kStaticSize;
  Decision decision("conjac/abstract/static-exact");
  decision.needs(vanilla.rests, "VANILLA comes to rest").needs(sag >= 0.02, "the body sags by 2% of its size or more");
  for (int count : counts) {
    context.progress(0.1, fmt::format("{} dynamic nodes", count));
    const Settled conjac =
        settle(model, "conjac", {{"dynamic_nodes", std::int64_t{count}}, {"beta", 3.7}}, rest, kStaticSize, h, stop);
    const double apart = farthest_node(conjac.state.x, vanilla.state.x) / kStaticSize;
    if (context.stopped()) return;
    context.row({{"dynamic", count}, {"steps_to_rest", conjac.steps}, {"from_vanilla", apart}, {"sag", sag}});
    decision.needs(conjac.rests, fmt::format("conjac with {} nodes comes to rest", count))
        .at_most(fmt::format("{} nodes: distance of the end states over the size", count), apart, 1e-8);
  }
  context.decide(decision.note("sag over the size", sag));
}

/// The lowest vibration modes about the undeformed shape, by inverse iteration on a subspace.
Eigen::MatrixXd vibration_modes(const Model& model, int count) {
  Assembler assembler(model.nodes(), {model.energies().begin(), model.energies().end()});
  BlockMatrix H(model.pattern(), 3);
  assembler.add_hessian({model.rest()}, Projection::none, H);
  const BoundaryState boundary = boundary_state(model.pins(), {}, model.rest(), 0);
  H.eliminate(boundary.fixed);
  SparseCholesky cholesky;
  cholesky.analyze(model.pattern(), 3);
  cholesky.factor(H);
  VecX mass(model.rest().size());
  for (Index i = 0; i < model.nodes(); ++i) node(mass, i).setConstant(model.mass().lumped()[i]);
  Eigen::MatrixXd X(mass.size(), count + 24);
  for (Eigen::Index c = 0; c < X.cols(); ++c)
    for (Eigen::Index i = 0; i < X.rows(); ++i)
      X(i, c) = boundary.fixed[at(i)]
                    ? 0
                    : std::sin(0.37 * static_cast<double>((i + 1) * (c + 1)) + 0.1 * static_cast<double>(c));
  for (int k = 0; k < 25; ++k) {
    const Eigen::MatrixXd MX = mass.asDiagonal() * X;
    Eigen::MatrixXd Y = MX;
    cholesky.solve(Y);
    // Rayleigh-Ritz: K Y = M X.
    const Eigen::MatrixXd K = Y.transpose() * MX, M = Y.transpose() * (mass.asDiagonal() * Y);
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> ritz(K, M);
    X = Y * ritz.eigenvectors();
  }
  return X.leftCols(count);
}

/// The static solution within a basis, by Newton's method on its coordinates.
VecX within_basis(const Model& model, const Eigen::MatrixXd& U) {
  Assembler assembler(model.nodes(), {model.energies().begin(), model.energies().end()});
  BlockMatrix H(model.pattern(), 3);
  VecX q = VecX::Zero(U.cols()), g, image;
  for (int k = 0; k < 60; ++k) {
    const VecX x = model.rest() + U * q;
    g = -model.external_force();
    assembler.add_gradient({x}, g);
    H.set_zero();
    assembler.add_hessian({x}, Projection::analytic, H);
    Eigen::MatrixXd HU(U.rows(), U.cols());
    for (Eigen::Index c = 0; c < U.cols(); ++c) {
      H.multiply(U.col(c), image);
      HU.col(c) = image;
    }
    const VecX d = (U.transpose() * HU).ldlt().solve(VecX(-U.transpose() * g));
    q += d;
    if ((U * d).cwiseAbs().maxCoeff() < 1e-13) break;
  }
  return model.rest() + U * q;
}

void decide_subspaces(Context& context, const std::shared_ptr<const Model>& model, double h) {
  context.progress(0.5, "vibration modes");
  const State rest = resting_state(model);
  const Eigen::MatrixXd modes = vibration_modes(*model, 96);
  std::map<int, double> error;
  for (int count : {24, 48, 96}) {
    error[count] = farthest_node(within_basis(*model, modes.leftCols(count)), rest.x) / kStaticSize;
    context.row({{"modes", count}, {"from_full_solution", error[count]}});
  }
  const Settled conjac = settle(model, "conjac", {{"dynamic_nodes", std::int64_t{8}}, {"beta", 3.7}}, rest, kStaticSize,
                                h, [&] { return context.stopped(); });
  context.decide(Decision("conjac/abstract/against-subspaces")
                     .needs(conjac.rests, "conjac comes to rest")
                     .at_least("24 modes: distance to the full solution over the size", error[24], 1e-3)
                     .at_least("96 modes: the same", error[96], 1e-5)
                     .at_most("conjac, 8 nodes: the same", farthest_node(conjac.state.x, rest.x) / kStaticSize, 1e-8)
                     .note("48 modes", error[48])
                     .because(fmt::format("of the sag, {:.3g} and {:.3g} of the size are missing with 24 and 96 modes",
                                          error[24], error[96])));
}

void decide_start(Context& context, const std::shared_ptr<const Model>& model) {
  context.progress(0.7, "start");
  std::vector<double> starts, steps, changes;
  for (int round = 0; round < 5; ++round) {
    State state = model->rest_state();
    const auto fresh = [&](std::int64_t seed) {
      return make_stepper(model, "conjac",
                          as_published("conjac", {{"dynamic_nodes", std::int64_t{8}}, {"seed", seed}}));
    };
    const ProcessorTime start(ProcessorTime::Of::program);
    auto stepper = fresh(0);
    stepper->step(state, 5e-3);
    starts.push_back(start.seconds());
    for (int s = 0; s < 5; ++s) {
      const ProcessorTime time(ProcessorTime::Of::program);
      stepper->step(state, 5e-3);
      steps.push_back(time.seconds());
    }
    const ProcessorTime change(ProcessorTime::Of::program);
    stepper = fresh(round + 1);
    stepper->step(state, 5e-3);
    changes.push_back(change.seconds());
  }
  const double step = median(steps);
  context.row({{"start_ms", 1e3 * median(starts)}, {"step_ms", 1e3 * step}, {"change_ms", 1e3 * median(changes)}});
  context.decide(
      Decision("conjac/intro/no-precomputation")
          .at_most("start and first step over a median step", median(starts) / step, 3)
          .at_most("changing the dynamic nodes, beyond the step itself, over a median step", median(changes) / step - 1,
                   2)
          .because(fmt::format("processor time: {:.1f} ms to the end of the first step, {:.1f} ms a step; the "
                               "ordering and the symbolic factorisation are in the first",
                               1e3 * median(starts), 1e3 * step)));
}

/// Section 3: zero-length springs hang from the top, the lowest node is dynamic.
void decide_string(Context& context) {
  constexpr Index kNodes = 20;
  SpringNetwork network;
  std::vector<Index> ends;
  for (Index i = 0; i < kNodes; ++i) network.vertices.push_back({0, -0.01 * i, 0});
  for (Index i = 0; i + 1 < kNodes; ++i) {
    network.springs.push_back({i, i + 1});
    ends.insert(ends.end(), {i, i + 1});
  }
  network.measure.assign(kNodes, 1e-3);
  BodyOptions body;
  body.name = "string";
  body.network = std::make_shared<SpringNetwork>(network);
  body.springs = {1e-30, 1e-30, 1e-30};  // the ones with a length, which do nothing
  body.density = 1;
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.add_body(body);
  builder.add_energy(std::make_shared<SpringEnergy>(ends, std::vector<double>(kNodes - 1, 20.0),
                                                    std::vector<double>(kNodes - 1, 0.0)));
  builder.add_pin({"top", {0}});
  const auto model = builder.build();
  // As printed: the solver makes further nodes dynamic, since a line held at one end could turn without any force.
  PlainConjac check(model, {kNodes - 1}, {});
  State state = model->rest_state();
  state.x = check.balanced(state);
  node(state.v, kNodes - 1) = Vec3(0.3, 0.1, -0.2);
  const double weight = model->mass().lumped().sum() * 9.81;
  double velocity = 0, force = 0;
  bool completed = true;
  for (int s = 0; s < 200 && completed; ++s) {
    completed = check.step(state, 5e-3);
    const Vec3 v = node(state.v, kNodes - 1);
    for (Index i = 1; i + 1 < kNodes; ++i)
      velocity = std::max(velocity, (node(state.v, i) - double(i) / (kNodes - 1) * v).norm() / v.norm());
    force = std::max(force, check.imbalance(state).of_quasistatic / weight);
  }
  context.row({{"string_nodes", kNodes}, {"velocity_error", velocity}, {"force_over_weight", force}});
  context.decide(
      Decision("conjac/section-3/string")
          .needs(completed, "all 200 steps are done")
          .at_most("velocities from (i/n) v_d, over v_d", velocity, 1e-12)
          .below("force on quasistatic nodes over the weight", force, 1e-10)
          .because(fmt::format("off by {:.2g} of v_d and {:.2g} of the weight over 200 steps", velocity, force)));
}

void decide_inertia(Context& context, const std::shared_ptr<const Model>& model) {
  PlainConjac plain(model, placed_nodes(*model, 8), {});
  const bool factored = plain.linearise(model->rest_state());
  const double mass = model->mass().lumped().sum();
  double off = factored ? 0 : 1;
  for (Eigen::Index axis = 0; axis < 3 && factored; ++axis) {
    VecX unit = VecX::Zero(plain.J().cols());
    for (Eigen::Index c = axis; c < unit.size(); c += 3) unit[c] = 1;
    const VecX v = plain.J() * unit;
    double form = 0;
    for (Index i = 0; i < model->nodes(); ++i) form += model->mass().lumped()[i] * node(v, i).squaredNorm();
    off = std::max(off, std::abs(form / mass - 1));
  }
  const auto stepper = make_stepper(model, "conjac", as_published("conjac", {{"dynamic_nodes", std::int64_t{8}}}));
  State state = model->rest_state();
  for (Index i = 0; i < model->nodes(); ++i) node(state.v, i) = Vec3(0.3, -0.2, 0.5);
  const auto momentum = [&] {
    Vec3 sum = Vec3::Zero();
    for (Index i = 0; i < model->nodes(); ++i) sum += model->mass().lumped()[i] * node(state.v, i);
    return sum;
  };
  const Vec3 before = momentum();
  double change = 0;
  bool completed = true;
  for (int s = 0; s < 100 && completed; ++s) {
    completed = stepper->step(state, 5e-3).succeeded();
    change = std::max(change, (momentum() - before).norm() / before.norm());
  }
  context.row({{"mass_error", off}, {"momentum_error", change}});
  context.decide(Decision("conjac/section-3.2/effective-inertia")
                     .needs(factored && completed, "K_qq is factorised and 100 steps are done")
                     .at_most("quadratic form of J^T M J from the mass, relative", off, 1e-9)
                     .at_most("change of momentum over 100 steps, relative", change, 1e-12)
                     .because(fmt::format("the mass is off by {:.2g}, momentum by {:.2g}", off, change)));
}

void decide_sizes(Context& context) {
  struct Grid {
    const char* name;
    std::array<Index, 3> cells;
    double vertices, tets;
  };
  Decision decision("conjac/table-1/sizes");
  for (const Grid& grid : {Grid{"twist", {20, 6, 6}, 1029, 4320}, Grid{"hetero", {12, 34, 12}, 5915, 29376},
                           Grid{"aniso", {12, 38, 12}, 6591, 32832}, Grid{"barcut", {49, 10, 10}, 6050, 29400}}) {
    const MeshData mesh = box({.cells = grid.cells, .split = BoxSplit::six});
    decision.equal(fmt::format("{}: vertices", grid.name), double(mesh.vertices.size()), grid.vertices)
        .equal(fmt::format("{}: elements", grid.name), double(mesh.tets.size()), grid.tets);
  }
  if (context.text("meshes").empty()) {
    decision.leave_undecided("a folder of meshes is given (--option meshes=FOLDER)");
  } else {
    const TetMesh dragon(*find_mesh(context, "Armadillo13K")), bunny(*find_mesh(context, "bunny"));
    decision
        .between("vertices in place of the dragon's, over 10456", double(dragon.vertices().size()) / 10456, 0.9, 1.5)
        .between("vertices in place of the bunny's, over 5988", double(bunny.vertices().size()) / 5988, 0.9, 1.5);
  }
  context.decide(decision);
}

void run_static(Context& context) {
  decide_string(context);
  decide_sizes(context);
  if (!has_meshes(context, {"conjac/abstract/static-exact", "conjac/abstract/against-subspaces",
                            "conjac/intro/no-precomputation", "conjac/section-3.2/effective-inertia"}))
    return;
  const MeshData mesh = *find_mesh(context, context.text("mesh"));
  const auto held = standing(mesh, true);
  decide_start(context, standing(*find_mesh(context, context.text("started")), true));
  decide_inertia(context, standing(mesh, false));
  const double h = context.number("h");
  decide_subspaces(context, held, h);
  decide_rest(context, held, context.integers("dynamic"), h);
}

}  // namespace

Experiment conjac_static() {
  return {"conjac/static",
          "Shapes at rest beside the full method and beside a reduced basis, start-up costs, identities of the mapping "
          "(sections 1, 3, 5)",
          {meshes_option("bunny.mesh and Armadillo13K.msh; quick: ditto.mesh"),
           {"mesh", "bunny", "ditto", "the body at rest"},
           {"started", "Armadillo13K", "ditto", "the body whose start is timed"},
           {"dynamic", "0,1,4,8,32", "0,1,8", "numbers of dynamic nodes"},
           {"h", "0.2", "0.02", "time step of the way to rest, s: large ones damp more"}},
          run_static};
}

}  // namespace pliant::experiments
