// The C interface of pliant.h: handles over Simulation, and no exception past them.

#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "pliant/math/parallel.hpp"
#include "pliant/pliant.h"
#include "pliant/pliant.hpp"

struct pliant_simulation {
  pliant::Simulation simulation;
  std::map<std::int32_t, pliant::Grab> grabs = {};  ///< by the caller's numbers
  std::int32_t next_grab = 0;

  const pliant::State& state() const { return *simulation.state(); }
  const std::vector<pliant::Body>& bodies() const { return simulation.model()->bodies(); }
};

namespace {

using pliant::Index;
using pliant::InputError;
using pliant::Vec3;

thread_local std::string last_error;

/// Runs the body of a call; an exception becomes a status and the thread's message.
template <class Body>
pliant_status guarded(Body&& body) {
  try {
    return body();
  } catch (const InputError& error) {
    last_error = error.what();
    return PLIANT_BAD_INPUT;
  } catch (const std::bad_alloc&) {
    last_error = "out of memory; use a coarser mesh or a lower order";
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an unknown exception";
  }
  return PLIANT_FAILED;
}

template <class T>
T& checked(T* pointer, const char* name) {
  if (!pointer) throw InputError(std::string(name) + " is NULL");
  return *pointer;
}

/// The surface of a rigid body is what its frame carries, not the frame's own.
std::span<const pliant::Triangle> drawn_triangles(const pliant::Body& body) {
  return body.rigid ? std::span<const pliant::Triangle>(body.rigid->triangles) : body.surface();
}

const pliant::Body& checked_body(const pliant_simulation* simulation, std::size_t body) {
  const auto& bodies = checked(simulation, "the simulation").bodies();
  if (body >= bodies.size())
    throw InputError("there is no body " + std::to_string(body) + "; the scene has " + std::to_string(bodies.size()));
  return bodies[body];
}

pliant::Grab& checked_grab(pliant_simulation* simulation, std::int32_t grab) {
  auto& grabs = checked(simulation, "the simulation").grabs;
  const auto found = grabs.find(grab);
  if (found == grabs.end()) throw InputError("there is no grab " + std::to_string(grab) + ", or it was released");
  return found->second;
}

Vec3 checked_vector(const double* numbers, const char* name) {
  checked(numbers, name);
  const Vec3 vector(numbers[0], numbers[1], numbers[2]);
  if (!vector.allFinite()) throw InputError(std::string(name) + " is not finite");
  return vector;
}

void check_size(std::size_t given, std::size_t needed, const char* name) {
  if (given < needed)
    throw InputError(std::string(name) + " has room for " + std::to_string(given) + " numbers, but there are " +
                     std::to_string(needed));
}

void copy_out(const pliant::VecX& values, double* to, std::size_t room, const char* name) {
  checked(to, name);
  check_size(room, static_cast<std::size_t>(values.size()), name);
  std::copy(values.begin(), values.end(), to);
}

void copy_in(const double* from, std::size_t count, pliant::VecX& values, const char* name) {
  checked(from, name);
  if (count != static_cast<std::size_t>(values.size()))
    throw InputError(std::string(name) + " has " + std::to_string(count) + " numbers, but there must be " +
                     std::to_string(values.size()));
  const Eigen::Map<const pliant::VecX> given(from, values.size());
  if (!given.allFinite()) throw InputError(std::string(name) + " contains numbers that are not finite");
  values = given;
}

std::shared_ptr<const pliant::TetMesh> mesh_of(const pliant_mesh& mesh) {
  pliant::MeshData data;
  data.source = "mesh '" + std::string(&checked(mesh.name, "the name of a mesh")) + "'";
  checked(mesh.vertices, "the vertices of a mesh");
  checked(mesh.tetrahedra, "the tetrahedra of a mesh");
  for (std::size_t i = 0; i < mesh.vertex_count; ++i) data.vertices.emplace_back(mesh.vertices + 3 * i);
  for (std::size_t i = 0; i < mesh.tetrahedron_count; ++i) {
    const std::int32_t* corners = mesh.tetrahedra + 4 * i;
    data.tets.push_back({corners[0], corners[1], corners[2], corners[3]});
  }
  // Vertices keep their numbers, so that arrays of the caller's fit: none may be dropped.
  return std::make_shared<const pliant::TetMesh>(std::move(data), pliant::Orphans::reject);
}

void fill(const pliant::StepReport& report, double seconds, bool advanced, pliant_report& to) {
  pliant_report full = {};
  full.size = std::min(to.size, sizeof(full));
  full.outcome = pliant::to_string(report.outcome).data();  // of a literal
  full.advanced = advanced ? 1 : 0;
  full.iterations = report.iterations;
  full.seconds = seconds;
  full.force_residual = report.residuals.force;
  full.minimum_gap = report.minimum_gap;
  full.contacts = report.contacts;
  std::memcpy(&to, &full, full.size);
}

}  // namespace

const char* pliant_version(void) { return PLIANT_VERSION; }

const char* pliant_last_error(void) { return last_error.c_str(); }

void pliant_set_threads(int32_t count) {
  static std::mutex mutex;
  static std::unique_ptr<tbb::global_control> limit;
  const std::lock_guard lock(mutex);
  limit.reset();
  if (count > 0)
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  static_cast<std::size_t>(count));
}

pliant_status pliant_load(const char* path, pliant_simulation** result) {
  return guarded([&] {
    checked(result, "the result") = nullptr;
    pliant::find_cores();
    *result = new pliant_simulation{pliant::Simulation(pliant::load_scene(&checked(path, "the path")))};
    return PLIANT_OK;
  });
}

pliant_status pliant_create(const char* scene_text, const pliant_mesh* meshes, size_t mesh_count,
                            pliant_simulation** result) {
  return guarded([&] {
    checked(result, "the result") = nullptr;
    pliant::find_cores();
    pliant::SceneObjects objects;
    if (mesh_count > 0) checked(meshes, "the array of meshes");
    for (std::size_t i = 0; i < mesh_count; ++i) {
      const std::shared_ptr<const pliant::TetMesh> mesh = mesh_of(meshes[i]);
      objects.meshes[meshes[i].name] = mesh;
    }
    pliant::Scene scene = pliant::scene_from_tree(pliant::parse_toml(&checked(scene_text, "the text"), "scene"),
                                                  "scene", ".", {}, objects);
    *result = new pliant_simulation{pliant::Simulation(std::move(scene))};
    return PLIANT_OK;
  });
}

void pliant_destroy(pliant_simulation* simulation) { delete simulation; }

pliant_status pliant_step(pliant_simulation* simulation, pliant_report* report) {
  return guarded([&] {
    const auto begin = std::chrono::steady_clock::now();
    pliant::Simulation& running = checked(simulation, "the simulation").simulation;
    if (!running.make_due_cuts().empty()) simulation->grabs.clear();
    running.state()->grabs.clear();
    for (const auto& [number, grab] : simulation->grabs) running.state()->grabs.push_back(grab);
    const pliant::StepReport step = running.step();
    const bool advanced = running.took(step);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (report) fill(step, seconds, advanced, *report);
    if (advanced) return PLIANT_OK;
    last_error = std::string(pliant::to_string(step.outcome)) + ": " + step.detail;
    return PLIANT_STEP_FAILED;
  });
}

double pliant_time(const pliant_simulation* simulation) { return simulation ? simulation->state().time : 0; }

double pliant_time_step(const pliant_simulation* simulation) {
  return simulation ? simulation->simulation.scene().dt : 0;
}

size_t pliant_node_count(const pliant_simulation* simulation) {
  return simulation ? static_cast<std::size_t>(simulation->simulation.model()->nodes()) : 0;
}

size_t pliant_body_count(const pliant_simulation* simulation) { return simulation ? simulation->bodies().size() : 0; }

const char* pliant_body_name(const pliant_simulation* simulation, size_t body) {
  return body < pliant_body_count(simulation) ? simulation->bodies()[body].name.c_str() : nullptr;
}

pliant_status pliant_body_nodes(const pliant_simulation* simulation, size_t body, size_t* first, size_t* count) {
  return guarded([&] {
    const pliant::Range nodes = checked_body(simulation, body).nodes;
    checked(first, "the first node") = static_cast<std::size_t>(nodes.begin);
    checked(count, "the number of nodes") = static_cast<std::size_t>(nodes.end - nodes.begin);
    return PLIANT_OK;
  });
}

size_t pliant_body_triangle_count(const pliant_simulation* simulation, size_t body) {
  return body < pliant_body_count(simulation) ? drawn_triangles(simulation->bodies()[body]).size() : 0;
}

pliant_status pliant_body_triangles(const pliant_simulation* simulation, size_t body, int32_t* triangles, size_t room) {
  return guarded([&] {
    const pliant::Body& of = checked_body(simulation, body);
    checked(triangles, "the array of triangles");
    const std::span<const pliant::Triangle> drawn = drawn_triangles(of);
    check_size(room, 3 * drawn.size(), "the array of triangles");
    const Index first = of.rigid ? simulation->simulation.model()->nodes() + of.first_carried : of.nodes.begin;
    for (const pliant::Triangle& triangle : drawn)
      for (Index vertex : triangle) *triangles++ = static_cast<std::int32_t>(first + vertex);
    return PLIANT_OK;
  });
}

size_t pliant_point_count(const pliant_simulation* simulation) {
  if (!simulation) return 0;
  const pliant::Model& model = *simulation->simulation.model();
  return static_cast<std::size_t>(model.nodes()) + model.carried().size();
}

pliant_status pliant_body_pose(const pliant_simulation* simulation, size_t body, double centre[3], double rotation[9]) {
  return guarded([&] {
    const pliant::Body& of = checked_body(simulation, body);
    checked(centre, "the array of the centre");
    checked(rotation, "the array of the rotation");
    if (!of.rigid)
      throw pliant::InputError("body '" + of.name + "' is not rigid; its nodes are where the positions say");
    std::array<pliant::Vec3, 4> nodes;
    for (std::size_t i = 0; i < 4; ++i)
      nodes[i] = pliant::node(simulation->state().x, of.nodes.begin + static_cast<Index>(i));
    Eigen::Map<pliant::Vec3>(centre, 3) = (nodes[0] + nodes[1] + nodes[2] + nodes[3]) / 4;
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(rotation, 3, 3) = of.rigid->rotation(nodes);
    return PLIANT_OK;
  });
}

pliant_status pliant_get_points(const pliant_simulation* simulation, double* points, size_t room) {
  return guarded([&] {
    const pliant::VecX all =
        checked(simulation, "the simulation").simulation.model()->with_carried(simulation->state().x);
    copy_out(all, points, room, "the array of points");
    return PLIANT_OK;
  });
}

pliant_status pliant_get_positions(const pliant_simulation* simulation, double* positions, size_t room) {
  return guarded([&] {
    copy_out(checked(simulation, "the simulation").state().x, positions, room, "the array of positions");
    return PLIANT_OK;
  });
}

pliant_status pliant_set_positions(pliant_simulation* simulation, const double* positions, size_t count) {
  return guarded([&] {
    copy_in(positions, count, checked(simulation, "the simulation").simulation.state()->x, "the array of positions");
    return PLIANT_OK;
  });
}

pliant_status pliant_get_velocities(const pliant_simulation* simulation, double* velocities, size_t room) {
  return guarded([&] {
    copy_out(checked(simulation, "the simulation").state().v, velocities, room, "the array of velocities");
    return PLIANT_OK;
  });
}

pliant_status pliant_set_velocities(pliant_simulation* simulation, const double* velocities, size_t count) {
  return guarded([&] {
    copy_in(velocities, count, checked(simulation, "the simulation").simulation.state()->v, "the array of velocities");
    return PLIANT_OK;
  });
}

pliant_status pliant_grab(pliant_simulation* simulation, const double eye[3], const double direction[3],
                          double strength, int32_t* grab) {
  return guarded([&] {
    const pliant::Simulation& running = checked(simulation, "the simulation").simulation;
    checked(grab, "the number of the grab") = -1;
    const auto found = pliant::grab_along_ray(*running.model(), running.state()->x, checked_vector(eye, "the eye"),
                                              checked_vector(direction, "the direction"), strength);
    if (!found) return PLIANT_OK;
    simulation->grabs[simulation->next_grab] = *found;
    *grab = simulation->next_grab++;
    return PLIANT_OK;
  });
}

pliant_status pliant_move_grab(pliant_simulation* simulation, int32_t grab, const double target[3]) {
  return guarded([&] {
    checked_grab(simulation, grab).target = checked_vector(target, "the target");
    return PLIANT_OK;
  });
}

pliant_status pliant_release(pliant_simulation* simulation, int32_t grab) {
  return guarded([&] {
    checked_grab(simulation, grab);
    simulation->grabs.erase(grab);
    return PLIANT_OK;
  });
}
