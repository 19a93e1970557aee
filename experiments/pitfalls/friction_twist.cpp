// The friction twist of pitfalls (section 10.3.4, figs. 1 and 16): a rubber slab on four round supports stands on the
// floor; a steel plate, held at its top face, comes down and turns; friction alone twists the structure until it
// buckles; the plate is let go.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/pitfalls/contact_table.hpp"
#include "experiments/pitfalls/statistics.hpp"

namespace pliant::experiments {

FrictionTwistOptions quick_friction_twist() { return {.cells = 2, .press = 0.02, .turn = 90, .release = 1}; }

namespace {

constexpr double kSlabSide = 0.4, kSupportTop = 0.25, kStructureTop = 0.3, kFootGap = 5e-4, kSupportWidth = 0.1;
constexpr double kSupportAt = 0.1, kPlateSide = 0.36, kPlateThickness = 0.04, kPlateGap = 1.5e-3;

/// Turns the squares around a support's axis into circles, up to its own width, and back to squares at twice that.
Vec3 rounded(const Vec3& X) {
  Vec3 centre(X.x() < 0 ? -kSupportAt : kSupportAt, X.y(), X.z() < 0 ? -kSupportAt : kSupportAt);
  const Vec3 offset = X - centre;
  const double square = std::max(std::abs(offset.x()), std::abs(offset.z())),
               round = std::hypot(offset.x(), offset.z());
  const double inner = kSupportWidth / 2, outer = kSupportWidth;
  if (round < 1e-12 || square >= outer) return X;
  const double share = square <= inner ? 1 : (outer - square) / (outer - inner);
  return centre + ((1 - share) + share * square / round) * offset;
}

/// A slab of 0.4 m on four cylinders of 0.1 m diameter: cells of a grid, mapped so that the supports are round.
BodyOptions structure(int across) {
  const double cell = kSupportWidth / across;
  const auto count = [&](double length) { return static_cast<Index>(std::lround(length / cell)); };
  MeshData data = box({.origin = {-kSlabSide / 2, 0, -kSlabSide / 2},
                       .size = {kSlabSide, kStructureTop, kSlabSide},
                       .cells = {count(kSlabSide), count(kStructureTop), count(kSlabSide)},
                       .split = BoxSplit::twelve});
  std::erase_if(data.tets, [&](const Tet& tet) {
    Vec3 c = Vec3::Zero();
    for (Index v : tet) c += data.vertices[static_cast<std::size_t>(v)] / 4;
    const auto is_support = [](double x) { return std::abs(std::abs(x) - kSupportAt) < kSupportWidth / 2; };
    return c.y() < kSupportTop && !(is_support(c.x()) && is_support(c.z()));
  });
  for (Vec3& v : data.vertices) v = rounded(v) + Vec3(0, kFootGap, 0);
  data.regions.clear();
  data.sets.clear();
  data.source = "slab on round supports";
  BodyOptions body;
  body.name = "structure";
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  body.material = {find_law("neo-hookean"), lame_from_young(1e7, 0.49)};
  body.density = 1300;
  return body;
}

}  // namespace

std::shared_ptr<const Model> friction_twist_model(const FrictionTwistOptions& options) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(MassKind::consistent);
  builder.add_body(structure(options.cells));
  const double bottom = kStructureTop + kFootGap + kPlateGap;
  BodyOptions plate;
  plate.name = "plate";
  plate.mesh = std::make_shared<TetMesh>(box({.origin = {0.005 - kPlateSide / 2, bottom, 0.003 - kPlateSide / 2},
                                              .size = {kPlateSide, kPlateThickness, kPlateSide},
                                              .cells = {2 * options.cells, 1, 2 * options.cells},
                                              .split = BoxSplit::twelve}));
  plate.material = {find_law("neo-hookean"), lame_from_young(220e9, 0.3)};
  plate.density = 7850;
  const std::size_t b = builder.add_body(plate);
  Script drive;
  drive.name = "drive";
  drive.nodes = plate.mesh->sets().at("y-max");
  for (Index& i : drive.nodes) i += builder.body(b).nodes.begin;
  drive.motion.axis = Vec3::UnitY();
  drive.motion.translation.keys = {{0, Vec3::Zero()}, {0.5 * options.release, Vec3(0, -options.press - kPlateGap, 0)}};
  drive.motion.angle.keys = {{0, 0.0}, {options.release, options.turn * std::numbers::pi / 180}};
  drive.sigma = 1e9;
  drive.release = options.release;
  builder.add_script(drive);
  Collider floor;
  floor.name = "floor";
  floor.shape = PlaneShape{};
  builder.add_collider(floor);
  builder.set_contact({.dhat = 1e-3, .friction = 1.0, .eps_v = 1e-3});
  return builder.build();
}

namespace {

/// Rotation about y of a set of nodes against rest, degrees.
double turned_by(const Model& model, const VecX& x, const std::vector<Index>& nodes) {
  Vec3 middle = Vec3::Zero(), rest_middle = Vec3::Zero();
  for (Index i : nodes) middle += node(x, i), rest_middle += node(model.rest(), i);
  middle /= double(nodes.size());
  rest_middle /= double(nodes.size());
  double cross = 0, dot = 0;
  for (Index i : nodes) {
    const Vec3 a = Vec3(node(model.rest(), i)) - rest_middle, b = Vec3(node(x, i)) - middle;
    cross += a.z() * b.x() - a.x() * b.z();
    dot += a.x() * b.x() + a.z() * b.z();
  }
  return std::atan2(cross, dot) * 180 / std::numbers::pi;
}

struct TwistCourse {
  double most_turned = 0, strain_at_release = 0, plate_moved = 0;
  double released_strain = kUnknown;
  std::vector<double> reaction;  ///< of the drive, N, as long as it lasts
  std::size_t buckled = 0;       ///< step; 0: never
};

void run_friction_twist(Context& context) {
  const FrictionTwistOptions options{static_cast<int>(context.number("cells")), context.number("press"),
                                     context.number("turn"), context.number("release")};
  ContactScene scene;
  scene.model = friction_twist_model(options);
  scene.steps = static_cast<int>(std::lround(60 * context.number("duration")));
  scene.max_iterations = static_cast<int>(context.number("max_iterations"));
  scene.repeats = static_cast<int>(context.number("repeats"));
  const Model& model = *scene.model;
  const Body &structure_body = model.bodies()[0], &plate = model.bodies()[1];
  std::vector<Index> top, feet;
  for (Index i = structure_body.nodes.begin; i < structure_body.nodes.end; ++i) {
    if (node(model.rest(), i).y() > kStructureTop + kFootGap - 1e-9) top.push_back(i);
    if (node(model.rest(), i).y() < kFootGap + 1e-9) feet.push_back(i);
  }
  const Script& drive = model.scripts().front();
  const VecX mass = model.mass().consistent_diagonal();
  TwistCourse course;
  Vec3 plate_at_release = Vec3::Zero();
  const auto strain_of_structure = [&](const VecX& x) {
    const Index count = structure_body.elements->element_count();
    std::vector<double> values(static_cast<std::size_t>(count));
    structure_body.elastic->evaluate(Pose(x), {0, count}, values.data(), nullptr);
    double sum = 0;
    for (double v : values) sum += v;
    return sum;
  };
  const auto centre_of_plate = [&](const VecX& x) {
    Vec3 sum = Vec3::Zero();
    for (Index i = plate.nodes.begin; i < plate.nodes.end; ++i) sum += node(x, i);
    return Vec3(sum / double(plate.nodes.end - plate.nodes.begin));
  };
  scene.watch = [&](const State& state, const StepReport&) {
    if (state.time <= options.release + 1e-9) {
      course.most_turned =
          std::max(course.most_turned, turned_by(model, state.x, top) - turned_by(model, state.x, feet));
      double force = 0;
      for (std::size_t k = 0; k < drive.nodes.size(); ++k) {
        const Index i = drive.nodes[k];
        force += drive.sigma * mass[i] *
                 (node(state.x, i).y() - drive.motion.position(k, node(model.rest(), i), state.time).y());
      }
      course.reaction.push_back(force);
      course.strain_at_release = strain_of_structure(state.x);
      plate_at_release = centre_of_plate(state.x);
    } else {
      const Vec3 moved = centre_of_plate(state.x) - plate_at_release;
      course.plate_moved = std::max(course.plate_moved, std::hypot(moved.x(), moved.z()));
      course.released_strain = strain_of_structure(state.x);
    }
  };
  const std::vector<double> tolerances = contact_tolerances(context);
  const ContactRuns runs = run_contact_scene(context, scene, tolerances, 0, 1);
  if (context.stopped()) return;
  for (std::size_t s = 10; s < course.reaction.size() && course.buckled == 0; ++s)
    if (course.reaction[s] <= 0.8 * *std::max_element(course.reaction.begin() + std::ptrdiff_t(s - 10),
                                                      course.reaction.begin() + std::ptrdiff_t(s)) &&
        course.reaction[s] > 0)
      course.buckled = s;

  Decision happens("pitfalls/fig-16/scene-happens"), best("pitfalls/fig-16/pdn-best-pn-behind"),
      kn("pitfalls/fig-16/kn"), spike("pitfalls/fig-16/buckling-spike");
  needs_contact_runs(happens, runs, {"PDN"}, {kContactCoarse});
  happens.at_least("turn of the top against the feet, degrees", course.most_turned, 20);
  if (!context.quick())
    happens.part("step at which the reaction has fallen by 20%", double(course.buckled), "before the release",
                 course.buckled > 0);
  happens.at_least("way of the plate sideways after its release, half widths", course.plate_moved / (kPlateSide / 2),
                   1);
  happens.at_most("strain energy left of that at the release", course.released_strain / course.strain_at_release, 0.2);
  if (happens.verdict() == Verdict::fails)
    happens.because(fmt::format("{:.2g} s after the release the plate has moved {:.2g} m sideways",
                                context.number("duration") - options.release, course.plate_moved));
  for (Decision* d : {&best, &kn, &spike}) {
    needs_contact_runs(*d, runs, four_solvers(), tolerances);
    d->needs(course.most_turned >= 20,
             fmt::format("friction turns the top by 20 degrees ({:.3g})", course.most_turned));
    if (!context.quick()) d->needs(course.buckled > 0, "the structure buckles");
    note_totals(*d, runs);
  }
  const auto total = [&](const char* solver, double eps_d) { return runs.at({solver, eps_d}).mean_iterations; };
  for (double eps_d : tolerances) {
    const double N = total("N", eps_d), PN = total("PN", eps_d), PDN = total("PDN", eps_d), KN = total("KN", eps_d);
    const std::string where = fmt::format(", eps_d {}", eps_d);
    best.at_most("PDN over the fewest" + where, PDN / std::min({N, PN, PDN, KN}), 1.02);
    best.at_least("PN/N" + where, PN / N, 1.05).at_least("PN/PDN" + where, PN / PDN, 1.05);
    if (eps_d == kContactFine) kn.at_most("KN/N" + where, KN / N, 1.2);
    if (eps_d == kContactCoarse)
      kn.above("KN/max(N, PDN)" + where, KN / std::max(N, PDN), 1.05).below("KN/PN" + where, KN / PN, 1);
  }
  if (course.buckled > 0) {
    const auto split = [&](const char* solver, bool inside) {
      std::vector<double> counts;
      const auto& steps = runs.at({solver, kContactCoarse}).per_step;
      for (std::size_t s = 0; s < steps.size(); ++s)
        if ((s + 5 >= course.buckled && s < course.buckled + 5) == inside) counts.push_back(steps[s]);
      return mean(counts);
    };
    spike.at_least("KN at the buckling over its other steps", split("KN", true) / split("KN", false), 5);
    spike.at_least("KN over N and PDN there", split("KN", true) / std::max(split("N", true), split("PDN", true)), 2);
    spike.at_most("|KN/N - 1| elsewhere", std::abs(split("KN", false) / split("N", false) - 1), 0.2);
  }
  if (best.verdict() == Verdict::fails)
    best.because(fmt::format("means of {} runs each, from starts that differ by 1e-12 m", scene.repeats + 1));
  for (Decision* d : {&happens, &best, &kn, &spike}) context.decide(*d);
}

}  // namespace

Experiment friction_twist() {
  return {"pitfalls/friction-twist",
          "A turning steel plate twists a rubber structure on round supports by friction until it buckles (fig. 16)",
          {{"cells", "6", "2", "cells across a support, an even number"},
           {"press", "0.06", "0.02", "how far the plate comes down, m"},
           {"turn", "180", "90", "how far it turns, degrees"},
           {"release", "7", "1", "when the plate is let go, s"},
           {"duration", "10", "1.3", "simulated seconds"},
           {"max_iterations", "6000", "600", "iterations after which a step has failed"},
           {"repeats", "2", "2", "further runs of each solver from perturbed starts, of which means are judged"}},
          run_friction_twist};
}

}  // namespace pliant::experiments
