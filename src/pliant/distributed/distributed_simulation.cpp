#include "pliant/distributed/distributed_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "pliant/base/error.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/distributed/box_parts.hpp"
#include "pliant/solvers/newton/newton_stepper.hpp"

namespace pliant {

namespace {

void check_solver(const SceneSolver& solver) {
  constexpr std::array<std::string_view, 4> kKnown = {"newton", "projected-newton", "pod-newton", "kinetic-newton"};
  if (std::find(kKnown.begin(), kKnown.end(), solver.name) == kKnown.end())
    throw InputError(
        fmt::format("solver '{}' does not run on several processes; use --solver pod-newton (or newton, "
                    "projected-newton, kinetic-newton), or run it on one machine, without mpirun",
                    solver.name));
}

void check_options(const NewtonOptions& options, const Model& model) {
  if (options.line_search.kind == LineSearchKind::wolfe)
    throw InputError("solver.line_search = \"wolfe\" is not for several processes; leave it out");
  if (options.criterion.mass == AccelerationMass::factorised && model.mass().kind() == MassKind::consistent)
    throw InputError("solver.acceleration_mass = \"factorised\" is not for several processes; set \"diagonal\"");
}

}  // namespace

DistributedSimulation::DistributedSimulation(Team& team, const std::function<Scene()>& load,
                                             const DivisionOptions& options) {
  std::optional<Scene> scene;
  {
    const Stopwatch watch(seconds_.reading);
    team.on_first([&] {
      scene = load();
      check_divisible(*scene);
      check_solver(scene->solver);
    });
    if (!scene) scene = load();
  }
  Fingerprint fingerprint;
  ModelPart part = divide(team, *scene, options, fingerprint);
  const Stopwatch watch(seconds_.building);
  sharing_ = std::make_shared<ProcessSharing>(team, part);
  look_at_part(*scene, part);
  std::shared_ptr<const Model> model = build_part(*scene, std::move(part), sharing_);
  sharing_->set_masses(model->mass());
  for (SceneBody& body : scene->bodies) body.visual.reset();
  simulation_ = std::make_unique<Simulation>(BuiltScene{std::move(*scene), {}, std::move(model)});
  simulation_->become_part(fingerprint);
  team.on_first([&] {
    check_options(dynamic_cast<const NewtonStepper&>(simulation_->stepper()).options(), *simulation_->model());
  });
}

ModelPart DistributedSimulation::divide(Team& team, const Scene& scene, const DivisionOptions& options,
                                        Fingerprint& fingerprint) {
  was_made_in_parts_ = is_made_of_boxes(scene, options.elements_made_in_parts);
  if (was_made_in_parts_) {
    const Stopwatch watch(seconds_.dividing);
    fingerprint = fingerprint_of_boxes(scene);
    std::optional<ModelPart> part;
    team.on_first([&] {  // what could not be divided among so many
      for (const SceneBody& body : scene.bodies)
        divide_cells(std::get<BoxOptions>(*body.mesh.generator).cells, team.size());
    });
    return box_part(scene, team);
  }
  std::shared_ptr<const Model> whole;
  Partition parts;
  std::vector<std::vector<Index>> probed;
  team.on_first([&] {
    {
      const Stopwatch watch(seconds_.reading);
      whole = build_model(scene);
      check_divisible(*whole);
      probed = probed_vertices(scene, whole);
      fingerprint = pliant::fingerprint(scene, *whole);
    }
    const Stopwatch watch(seconds_.dividing);
    parts = partition(*whole, team.size());
  });
  const Stopwatch watch(seconds_.dividing);
  if (!team.is_first()) return part_from_bytes(team.receive());
  for (int rank = 1; rank < team.size(); ++rank) team.send(to_bytes(part_of(scene, *whole, parts, rank, probed)), rank);
  return part_of(scene, *whole, parts, 0, probed);
}

}  // namespace pliant
