// From the checked tree of a scene file to the plain structs of scene.hpp. By the time this code reads a value,
// check_table has seen to its type, its limits and its default; what is left are the rules that join several keys.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "pliant/base/complaints.hpp"
#include "pliant/base/error.hpp"
#include "pliant/base/nearest.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/scene/generator_keys.hpp"
#include "pliant/scene/keys.hpp"
#include "pliant/scene/load_support.hpp"
#include "pliant/scene/overrides.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant {

namespace {

constexpr std::int64_t kVersion = 1;
std::filesystem::path existing_file(const Value& file, const std::filesystem::path& folder) {
  const std::filesystem::path path =
      std::filesystem::path(file.text()).is_absolute() ? std::filesystem::path(file.text()) : folder / file.text();
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    fail(file.origin,
         std::filesystem::path(file.text()).is_absolute()
             ? fmt::format("there is no mesh file '{}'", file.text())
             : fmt::format("there is no mesh file '{}'; it is looked for in the folder of the scene file, as {}",
                           file.text(), path.lexically_normal().string()));
  return path;
}

/// Where it is turned and moved to.
void read_placement(const Value& table, SceneMesh& mesh) {
  if (const Value* rotate = table.find("rotate")) {
    mesh.axis = to_direction(rotate->at("axis"), "axis");
    mesh.angle = rotate->at("angle").number() * kDegree;
    mesh.centre = to_vector(rotate->at("centre"));
  }
  mesh.translate = to_vector(table.at("translate"));
}

SceneMesh to_mesh(const Value& body, const std::filesystem::path& folder, const SceneObjects& objects) {
  SceneMesh mesh;
  for (const Setting& key : generator_keys()) {
    if (const Value* table = body.find(key.name)) mesh.generator = to_generator(key.name, *table);
  }
  if (const Value* cloth = body.find("cloth")) {
    mesh.cloth.emplace();
    mesh.cloth->origin = to_vector(cloth->at("origin"));
    for (std::size_t i = 0; i < 2; ++i) {
      const Value& cells = cloth->at("cells").list()[i];
      if (!cells.is_integer() || cells.number() > 1e4)
        fail(cells.origin, "'cells' of a cloth must be whole numbers of at most 10000; for example: cells = [40, 40]");
      mesh.cloth->size[i] = cloth->at("size").list()[i].number();
      mesh.cloth->cells[i] = static_cast<Index>(cells.number());
    }
  } else if (mesh.generator) {
    // nothing to read
  } else if (const auto given = objects.meshes.find(body.at("mesh").text()); given != objects.meshes.end()) {
    mesh.given = given->second;
  } else if (const auto surface = objects.surfaces.find(body.at("mesh").text()); surface != objects.surfaces.end()) {
    mesh.surface = surface->second;
  } else {
    mesh.file = existing_file(body.at("mesh"), folder);
  }
  const Value& scale = body.at("scale");
  mesh.scale = scale.is_list() ? to_vector(scale) : Vec3::Constant(scale.number());
  read_placement(body, mesh);
  return mesh;
}

SceneBody to_body(const Value& table, const std::filesystem::path& folder, const std::string& name,
                  const SceneObjects& objects) {
  SceneBody body;
  body.name = name;
  body.origin = table.origin;
  body.mesh = to_mesh(table, folder, objects);
  body.order = to_int(table.at("order"));
  if (const Value* visual = table.find("visual")) {
    body.visual = body.mesh;
    body.visual->file = existing_file(*visual, folder);
  }
  read_material(table, folder, body);
  body.density = table.at("density").number();
  body.velocity = to_vector(table.at("velocity"));
  body.angular_velocity = to_vector(table.at("angular_velocity"));
  if (const Value* regions = table.find("regions"))
    for (const Value::Entry& entry : regions->table()) {
      SceneRegion region{entry.key, {}, to_lame(entry.value), entry.origin};
      if (const Value* where = entry.value.find("where")) region.where = to_selection(*where, objects);
      body.regions.push_back(std::move(region));
    }
  return body;
}

std::array<bool, 3> to_axes(const Value& value) {
  std::array<bool, 3> axes = {false, false, false};
  for (char c : value.text()) {
    if (c < 'x' || c > 'z')
      fail(value.origin,
           fmt::format("'axes' in [[pin]] must be letters of x, y, z, but is \"{}\"; for example: axes = \"xy\"",
                       value.text()));
    axes[static_cast<std::size_t>(c - 'x')] = true;
  }
  if (value.text().empty())
    fail(value.origin, "'axes' in [[pin]] must name at least one of x, y, z; for example: axes = \"xyz\"");
  return axes;
}

void read_keyframes(const Value& list, const Value* rotate, Motion& motion) {
  double previous = -std::numeric_limits<double>::infinity();
  if (list.list().empty())
    fail(list.origin,
         "'keyframes' in [[script]] is empty; give at least one, for example: keyframes = [{time = 0, translate = [0, "
         "0, 0]}]");
  for (const Value& frame : list.list()) {
    const double time = later_time(frame, previous);
    if (const Value* t = frame.find("translate")) motion.translation.keys.push_back({time, to_vector(*t)});
    if (const Value* angle = frame.find("angle")) {
      if (!rotate)
        fail(angle->origin,
             "'angle' in a keyframe needs an axis; add for example: rotate = {axis = [1, 0, 0], centre = [0, 0, 0]}");
      motion.angle.keys.push_back({time, angle->number() * kDegree});
    }
  }
}

Motion to_motion(const Value& table, double begin, double end) {
  Motion motion;
  const Value* rotate = table.find("rotate");
  const double seconds = end - begin;
  if (rotate) {
    motion.axis = to_direction(rotate->at("axis"), "axis");
    motion.centre = to_vector(rotate->at("centre"));
    std::optional<double> angle;
    if (const Value* degrees = rotate->find("angle")) angle = degrees->number() * kDegree;
    if (const Value* turns = rotate->find("revolutions")) angle = turns->number() * 2 * std::numbers::pi;
    if (const Value* speed = rotate->find("angular_velocity")) angle = speed->number() * seconds;
    const Value* keyframes = table.find("keyframes");
    if (angle && keyframes)
      fail(rotate->origin,
           "'rotate' in [[script]] gives the angle, but so do 'keyframes'; keep only axis and centre in 'rotate'");
    if (!angle && !keyframes)
      fail(rotate->origin,
           "'rotate' in [[script]] needs 'angle', 'revolutions' or 'angular_velocity'; for example: angle = 180");
    if (angle) motion.angle.keys = {{begin, 0.0}, {end, *angle}};
  }
  if (const Value* keyframes = table.find("keyframes")) read_keyframes(*keyframes, rotate, motion);
  std::optional<Vec3> shift;
  if (const Value* translate = table.find("translate")) shift = to_vector(*translate);
  if (const Value* velocity = table.find("velocity")) shift = to_vector(*velocity) * seconds;
  if (shift) motion.translation.keys = {{begin, Vec3::Zero()}, {end, *shift}};
  return motion;
}

SceneScript to_script(const Value& table, double duration, const SceneObjects& objects) {
  SceneScript script;
  script.origin = table.origin;
  script.where = to_selection(table.at("where"), objects);
  script.imposition = table.at("imposition").text() == "direct" ? Imposition::direct : Imposition::penalty;
  script.sigma = table.at("sigma").number();
  script.start = table.at("start").number();
  if (const Value* release = table.find("release")) {
    script.release = release->number();
    if (!(script.release > script.start))
      fail(release->origin, fmt::format("'release' in [[script]] must come after 'start' = {} s, but is {} s",
                                        script.start, script.release));
  }
  double begin = script.start;
  double end = std::isfinite(script.release) ? script.release : std::max(duration, begin + 1e-9);
  if (const Value* times = table.find("times")) {
    begin = times->list()[0].number();
    end = times->list()[1].number();
  }
  script.motion = to_motion(table, begin, end);
  return script;
}

/// Values over time, from tables with the keys time and `key`.
template <class T, class Read>
Keyframes<T> to_keyframes(const Value& list, const std::string& key, const std::string& section, Read&& read) {
  Keyframes<T> keyframes;
  if (list.list().empty())
    fail(list.origin, fmt::format("the keyframes in {} are empty; give at least one, or leave the key out", section));
  double previous = -std::numeric_limits<double>::infinity();
  for (const Value& frame : list.list()) keyframes.keys.push_back({later_time(frame, previous), read(frame.at(key))});
  return keyframes;
}

LoadOptions to_load(const Value& table) {
  LoadOptions load;
  for (const auto& [key, kind] : {std::pair("force", LoadKind::force), std::pair("traction", LoadKind::traction),
                                  std::pair("body_force", LoadKind::body_force)})
    if (const Value* vector = table.find(key)) {
      load.kind = kind;
      load.vector = to_vector(*vector);
    }
  if (const Value* pressure = table.find("pressure")) {
    load.kind = LoadKind::pressure;
    load.pressure = pressure->number();
  }
  if (const Value* gas = table.find("gas")) {
    load.kind = LoadKind::gas;
    load.gas = {gas->at("pressure").number(), gas->at("outside").number(), gas->at("exponent").number()};
  }
  load.follows = load.kind == LoadKind::pressure || load.kind == LoadKind::gas;
  if (const Value* follows = table.find("follows")) {
    if (load.kind != LoadKind::pressure && load.kind != LoadKind::traction)
      fail(follows->origin, "'follows' in [[load]] goes with 'pressure' or 'traction'; leave it out");
    load.follows = std::get<bool>(follows->data);
  }
  if (const Value* keyframes = table.find("keyframes"))
    load.factor.keyframes =
        to_keyframes<double>(*keyframes, "factor", "[[load]]", [](const Value& v) { return v.number(); });
  return load;
}

Shape to_shape(const Value& table) {
  if (const Value* s = table.find("plane"))
    return PlaneShape{to_vector(s->at("point")), to_direction(s->at("normal"), "normal")};
  if (const Value* s = table.find("sphere")) return SphereShape{to_vector(s->at("centre")), s->at("radius").number()};
  if (const Value* s = table.find("box")) return BoxShape{to_vector(s->at("centre")), to_vector(s->at("size")) / 2};
  if (const Value* s = table.find("cylinder"))
    return CylinderShape{to_vector(s->at("centre")), to_direction(s->at("axis"), "axis"), s->at("radius").number(),
                         s->at("length").number() / 2};
  if (const Value* s = table.find("capsule"))
    return CapsuleShape{to_vector(s->at("begin")), to_vector(s->at("end")), s->at("radius").number()};
  if (const Value* s = table.find("torus"))
    return TorusShape{to_vector(s->at("centre")), to_direction(s->at("axis"), "axis"), s->at("ring").number(),
                      s->at("tube").number()};
  const Value& s = table.at("bowl");
  return BowlShape{to_vector(s.at("centre")), to_direction(s.at("axis"), "axis"), s.at("radius").number()};
}

SceneContact to_contact(const Value& table) {
  SceneContact contact;
  contact.origin = table.origin;
  ContactOptions& o = contact.options;
  o.dhat = table.at("dhat").number();
  o.kappa = table.at("kappa").number();
  o.adaptive = std::get<bool>(table.at("adaptive").data);
  o.friction = table.at("friction").number();
  o.eps_v = table.at("eps_v").number();
  o.friction_iterations = to_int(table.at("friction_iterations"));
  o.self = std::get<bool>(table.at("self").data);
  if (const Value* pairs = table.find("pair"))
    for (const Value& pair : pairs->list()) {
      const Value* friction = pair.find("friction");
      o.pairs.push_back({pair.at("first").text(), pair.at("second").text(), friction ? friction->number() : o.friction,
                         std::get<bool>(pair.at("touches").data)});
    }
  return contact;
}

SceneCollider to_collider(const Value& table, const std::string& name, const std::filesystem::path& folder,
                          double duration) {
  double begin = 0, end = std::max(duration, 1e-9);
  if (const Value* times = table.find("times")) {
    begin = times->list()[0].number();
    end = times->list()[1].number();
  }
  SceneCollider scene;
  scene.origin = table.origin;
  scene.collider = {name, PlaneShape{}, to_motion(table, begin, end), table.at("stiffness").number(),
                    table.at("friction").number()};
  if (const Value* surface = table.find("surface")) {
    scene.surface = folder / surface->at("file").text();
    scene.scale = surface->at("scale").number();
    scene.shift = to_vector(surface->at("translate"));
  } else {
    scene.collider.shape = to_shape(table);
  }
  return scene;
}

SceneBody to_rod(const Value& table, const std::string& name) {
  SceneBody body;
  body.name = name;
  body.origin = table.origin;
  RodLine& line = body.mesh.rod.emplace();
  for (const Value& point : table.at("points").list()) line.points.push_back(to_vector(point));
  line.segments = to_int(table.at("segments"));
  line.closed = std::get<bool>(table.at("closed").data);
  read_placement(table, body.mesh);
  RodMaterial& rod = body.rod.emplace();
  rod.young = table.at("young").number();
  rod.radius = table.at("radius").number();
  rod.bending = table.at("bending").number();
  if (const Value* curvature = table.find("rest_curvature")) rod.rest_curvature = curvature->number();
  if (const Value* damping = table.find("damping"))
    body.damping = {damping->at("mass").number(), damping->at("stiffness").number()};
  body.density = table.at("density").number();
  body.velocity = to_vector(table.at("velocity"));
  body.angular_velocity = to_vector(table.at("angular_velocity"));
  return body;
}

SceneBody to_rigid(const Value& table, const std::filesystem::path& folder, const std::string& name,
                   const SceneObjects& objects) {
  SceneBody body;
  body.name = name;
  body.origin = table.origin;
  body.rigid.emplace();
  if (table.find("mesh")) {
    body.mesh = to_mesh(table, folder, objects);
  } else {
    body.rigid->shape = to_shape(table);
    if (const Value* scale = table.find("scale"); scale && scale->given != Given::as_default)
      fail(scale->origin, "'scale' in [[rigid]] goes with 'mesh'; a shape has its size");
    read_placement(table, body.mesh);
  }
  body.rigid->young = table.at("young").number();
  if (const Value* friction = table.find("friction")) body.rigid->friction = friction->number();
  body.density = table.at("density").number();
  body.velocity = to_vector(table.at("velocity"));
  body.angular_velocity = to_vector(table.at("angular_velocity"));
  return body;
}

SceneLink to_link(const Value& table, const std::string& name, const std::vector<std::string>& before) {
  static const std::vector<std::string> kJoints = {"fixed", "hinge", "ball", "free"};
  LinkOptions link;
  link.name = name;
  if (const Value* parent = table.find("parent")) link.parent = static_cast<Index>(link_index(*parent, before));
  link.joint =
      static_cast<JointKind>(std::find(kJoints.begin(), kJoints.end(), table.at("joint").text()) - kJoints.begin());
  link.shape = to_shape(table);
  link.density = table.at("density").number();
  if (const Value* pivot = table.find("pivot"))
    link.pivot = to_vector(*pivot);
  else if (link.joint == JointKind::hinge || link.joint == JointKind::ball)
    fail(table.origin, "a hinge or ball in [[link]] needs the key 'pivot'; for example: pivot = [0, 0, 0]");
  link.axis = to_direction(table.at("axis"), "axis");
  return {link, table.origin};
}

CutSurface to_cut_surface(const Value& table, const std::filesystem::path& folder) {
  if (const Value* plane = table.find("plane")) {
    CutPlane cut{to_vector(plane->at("point")), to_direction(plane->at("normal"), "normal")};
    if (const Value* radius = plane->find("radius")) cut.radius = radius->number();
    return cut;
  }
  const Value& file = table.at("surface");
  const std::filesystem::path path =
      std::filesystem::path(file.text()).is_absolute() ? std::filesystem::path(file.text()) : folder / file.text();
  return at_origin(file.origin, [&] { return read_surface(path); });
}

/// A key of another section that is a parameter to the solvers that know it: [simulation] integrator, [output] history.
/// False when `solver` does not.
bool route(const Value& value, const std::string& key, const std::string& section, const SolverEntry& solver,
           Value& parameters) {
  if (!solver.parameters.find(key)) return false;
  if (const Value* twice = parameters.find(key)) {
    if (to_toml(*twice) != to_toml(value) && value.given != Given::as_default)
      fail(twice->origin, fmt::format("'{}' is given in [{}] and, differently, in [solver]; remove one", key, section));
  } else {
    parameters.table().push_back({key, value.origin, value});
  }
  return true;
}

/// What the solver can run by: the model is not there yet, but this has a line of its own.
void check_integrator(const Value& value, const SolverEntry& solver) {
  const auto has = [&](const SolverEntry& entry) {
    const auto& known = entry.supports.integrators;
    return std::find(known.begin(), known.end(), integrator_of(value.text())) != known.end();
  };
  if (has(solver)) return;
  std::vector<std::string> names;
  for (const SolverEntry& entry : solver_catalogue())
    if (has(entry)) names.push_back(entry.name);
  fail(value.origin, fmt::format("the solver '{}' has no integrator \"{}\"; solvers that have it: {}", solver.name,
                                 value.text(), fmt::join(names, ", ")));
}

void read_solver(const Value& table, const Value& root, const std::string& other_solver, Scene& scene) {
  const std::string& written = table.at("name").text();
  scene.solver.name = other_solver.empty() ? written : other_solver;
  scene.solver.origin = other_solver.empty() ? table.at("name").origin : "--solver";
  scene.solver.on_failure = table.at("on_failure").text() == "stop" ? OnFailure::stop : OnFailure::proceed;
  const SolverEntry& author =
      at_origin(table.at("name").origin, [&]() -> const SolverEntry& { return find_solver(written); });
  const SolverEntry& solver =
      at_origin(scene.solver.origin, [&]() -> const SolverEntry& { return find_solver(scene.solver.name); });
  Value parameters{Value::Table{}, table.origin};
  for (const Value::Entry& entry : table.table()) {
    if (entry.key == "name" || entry.key == "on_failure") continue;
    if (&solver != &author && entry.value.given == Given::in_scene) {
      checked_parameters(author, Value{Value::Table{entry}, table.origin});
      if (!solver.parameters.find(entry.key)) {
        scene.notices.push_back(fmt::format("{}: '{}' is a parameter of {}, not of {}; left out", entry.origin,
                                            entry.key, author.name, solver.name));
        continue;
      }
    }
    parameters.table().push_back(entry);
  }
  const Value& integrator = root.at("simulation").at("integrator");
  const Value& history = root.at("output").at("history");
  check_integrator(integrator, solver);
  route(integrator, "integrator", "simulation", solver, parameters);
  if (!route(history, "history", "output", solver, parameters) && std::get<bool>(history.data))
    scene.notices.push_back(fmt::format("{}: the solver '{}' records no history", history.origin, solver.name));
  scene.solver.parameters = checked_parameters(solver, std::move(parameters));
}

void read_time(const Value& root, Scene& scene) {
  const Value& simulation = root.at("simulation");
  const Value* fps = simulation.find("fps");
  scene.dt = fps ? 1 / fps->number() : simulation.at("dt").number();
  if (!(scene.dt >= kLeastTimeStep && scene.dt <= kGreatestTimeStep))
    fail(fps ? fps->origin : simulation.at("dt").origin,
         fmt::format("a time step of {} s; it must be from {} to {} s", scene.dt, kLeastTimeStep, kGreatestTimeStep));
  if (const Value* frames = simulation.find("frames")) {
    const auto count = std::get<std::int64_t>(frames->data);
    if (count > kMostSteps / scene.output.every)
      fail(frames->origin, fmt::format("'frames' makes more than {} steps", kMostSteps));
    scene.steps = count * scene.output.every;
  } else {
    // A duration of 3 s at 1/60 s is 180 steps, not 181, whatever the rounding of 1/60.
    const double steps = std::ceil(simulation.at("duration").number() / scene.dt - 1e-6);
    if (!(steps <= kMostSteps))
      fail(simulation.at("duration").origin,
           fmt::format("'duration' over 'dt' makes {} steps; use a longer time step", steps));
    scene.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
  }
  scene.gravity = to_vector(simulation.at("gravity"));
  if (const Value* keyframes = simulation.find("gravity_keyframes")) {
    if (simulation.at("gravity").given != Given::as_default)
      fail(keyframes->origin, "'gravity_keyframes' in [simulation] stands in place of 'gravity'; remove one");
    scene.gravity_keyframes = to_keyframes<Vec3>(*keyframes, "gravity", "[simulation]", to_vector);
    scene.gravity = scene.gravity_keyframes.keys.front().value;
  }
  scene.collider_law = simulation.at("colliders").text() == "barrier" ? ColliderLaw::barrier : ColliderLaw::penalty;
  scene.mass = simulation.at("mass").text() == "lumped" ? MassKind::lumped : MassKind::consistent;
}

/// What a colour shows of the fields that `fields` asks for; contact is in the frames wherever there is any.
std::optional<FrameField> field_of_colour(const std::string& colour) {
  if (colour == "displacement") return FrameField::displacement;
  if (colour == "stretch") return FrameField::stretch;
  if (colour == "von_mises") return FrameField::von_mises;
  if (colour == "speed" || colour == "velocity") return FrameField::velocity;
  return std::nullopt;
}

/// A colour that shows a field which the frames will not hold is refused; by default bodies have a colour each then.
std::string read_colour(const Value& value, const std::string& key, const SceneOutput& output) {
  std::string colour = value.text();
  std::replace(colour.begin(), colour.end(), '-', '_');
  const std::optional<FrameField> field = field_of_colour(colour);
  if (!field || std::find(output.fields.begin(), output.fields.end(), *field) != output.fields.end()) return colour;
  if (value.given == Given::as_default) return "body";
  const Setting& fields = *scene_keys().find("output")->section->find("fields");
  fail(value.origin,
       fmt::format("'{} = \"{}\"' shows what the frames will not hold; add \"{}\" to 'fields' in [output]", key,
                   value.text(), fields.choices[static_cast<std::size_t>(*field)]));
}

void read_output(const Value& output, Scene& scene) {
  scene.output.every = to_int(output.at("every"));
  scene.output.pictures = std::get<bool>(output.at("pictures").data);
  scene.output.visual = std::get<bool>(output.at("visual").data);
  if (const Value* every = output.find("export_every")) scene.output.export_every = to_int(*every);
  scene.output.checkpoint_every = to_int(output.at("checkpoint_every"));
  for (const Value& format : output.at("export").list()) scene.output.exports.push_back(format.text());
  const std::vector<std::string>& known =
      scene_keys().find("output")->section->find("fields")->choices;  // in the order of FrameField
  for (const Value& field : output.at("fields").list())
    scene.output.fields.push_back(
        static_cast<FrameField>(std::find(known.begin(), known.end(), field.text()) - known.begin()));
  if (const Value* colour = output.find("export_colour"))
    scene.output.export_colour = read_colour(*colour, "export_colour", scene.output);
}

void read_picture(const Value& table, const SceneOutput& output, ScenePicture& picture) {
  if (const Value* from = table.find("from")) picture.from = to_vector(*from);
  if (const Value* at = table.find("at")) picture.at = to_vector(*at);
  picture.field_of_view = table.at("fov").number();
  picture.colour = output.pictures ? read_colour(table.at("colour"), "colour", output) : table.at("colour").text();
  if (const Value* range = table.find("range")) picture.range = {range->list()[0].number(), range->list()[1].number()};
  if (const Value* size = table.find("size")) {
    picture.is_size_given = true;
    picture.width = to_int(size->list()[0]);
    picture.height = to_int(size->list()[1]);
  }
  if (const Value* background = table.find("background")) picture.background = to_vector(*background);
  picture.legend = std::get<bool>(table.at("legend").data);
  picture.stamp = std::get<bool>(table.at("stamp").data);
  picture.wireframe = std::get<bool>(table.at("wireframe").data);
  picture.shadows = std::get<bool>(table.at("shadows").data);
}

void check_version(const Value& root) {
  const Value* version = root.find("version");
  if (version && version->is_integer() && std::get<std::int64_t>(version->data) > kVersion)
    fail(version->origin,
         fmt::format("this scene has version {}, but this program reads versions up to {}; use a newer pliant",
                     to_toml(*version), kVersion));
}

void check_name(const Value& name) {
  const std::string& text = name.text();
  if (text.empty() || text == "." || text == ".." || text.find('/') != std::string::npos)
    fail(name.origin, fmt::format("'name' at the top level becomes the name of a folder and must not be \"{}\"; for "
                                  "example: name = \"twisted-beam\"",
                                  text));
}

}  // namespace

Scene scene_from_tree(Value root, const std::string& fallback_name, const std::filesystem::path& folder,
                      const SceneChanges& changes, const SceneObjects& objects) {
  apply_overrides(root, changes.set);
  check_version(root);
  // Keys and types of all tables first; then what joins them, of every table that is sound by itself. What is wrong
  // with one does not hide what is wrong with another: a person mends all of it at once.
  Complaints wrong;
  const auto gather = [&](auto&& read) { return wrong.gather(read); };
  const bool all_sound = gather([&] { check_table(root, scene_keys()); });
  const auto is_sound = [&](Value* table, const std::string& key) {
    if (!table || all_sound) return table != nullptr;
    Complaints told_already;
    return table->is_table() && told_already.gather([&] { check_table(*table, *scene_keys().find(key)->section); });
  };
  const auto has_sound = [&](const std::string& key) { return is_sound(root.find(key), key); };

  Scene scene;
  scene.name = fallback_name;
  if (all_sound) scene.title = root.at("title").text();
  if (const Value* name = root.find("name"); name && name->is_text())
    gather([&] {
      check_name(*name);
      scene.name = name->text();
    });
  if (has_sound("output"))
    gather([&] {
      read_output(root.at("output"), scene);
      if (has_sound("picture")) read_picture(root.at("picture"), scene.output, scene.picture);
    });
  if (has_sound("simulation")) gather([&] { read_time(root, scene); });
  const double duration = static_cast<double>(scene.steps) * scene.dt;

  const auto each = [&](const std::string& kind, auto&& add) {
    Value* list = root.find(kind);
    std::vector<std::string> names = names_of(list, kind, wrong);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (Value& table = list->list()[i]; is_sound(&table, kind)) gather([&] { add(table, names[i]); });
    return names;
  };

  std::vector<std::string> bodies = each("body", [&](const Value& table, const std::string& name) {
    scene.bodies.push_back(to_body(table, folder, name, objects));
  });
  const auto add_bodies = [&](const std::string& kind, auto&& to) {
    const std::vector<std::string> names = each(kind, [&](const Value& table, const std::string& name) {
      if (std::find(bodies.begin(), bodies.end(), name) != bodies.end())
        fail(table.origin, fmt::format("the name '{}' is taken by another body; give each its own", name));
      scene.bodies.push_back(to(table, name));
    });
    bodies.insert(bodies.end(), names.begin(), names.end());
  };
  add_bodies("rod", [&](const Value& table, const std::string& name) { return to_rod(table, name); });
  add_bodies("rigid",
             [&](const Value& table, const std::string& name) { return to_rigid(table, folder, name, objects); });
  if (bodies.empty() && !root.find("link")) {
    const bool any = root.find("body") || root.find("rod") || root.find("rigid");
    if (all_sound || !any)  // else what is wrong with it has been told
      gather([&] {
        fail(root.origin, "a scene needs at least one body; add [[body]] for one that deforms, [[rod]] or [[rigid]]");
      });
    wrong.report();
  }

  const auto each_of_a_body = [&](const std::string& kind, auto&& add) {
    each(kind, [&](const Value& table, const std::string& name) { add(table, name, body_index(table, bodies, kind)); });
  };
  each_of_a_body("pin", [&](const Value& table, const std::string& name, std::size_t body) {
    scene.pins.push_back(
        {name, body, to_selection(table.at("where"), objects), to_axes(table.at("axes")), table.origin});
  });
  each_of_a_body("script", [&](const Value& table, const std::string& name, std::size_t body) {
    SceneScript script = to_script(table, duration, objects);
    script.name = name;
    if (const auto driven = objects.driven.find(name); driven != objects.driven.end()) script.driven = driven->second;
    script.body = body;
    scene.scripts.push_back(std::move(script));
  });
  each_of_a_body("load", [&](const Value& table, const std::string& name, std::size_t body) {
    scene.loads.push_back({name, body, to_selection(table.at("where"), objects), to_load(table), table.origin});
    if (const auto factor = objects.factors.find(name); factor != objects.factors.end())
      scene.loads.back().load.factor.driven = factor->second;
  });
  std::vector<std::string> before;
  const std::vector<std::string> links = each("link", [&](const Value& table, const std::string& name) {
    before.push_back(name);
    scene.links.push_back(to_link(table, name, {before.begin(), before.end() - 1}));
  });
  each_of_a_body("attachment", [&](const Value& table, const std::string& name, std::size_t body) {
    scene.attachments.push_back(
        to_attachment(table, name, body, to_selection(table.at("where"), objects), bodies, links));
  });
  each_of_a_body("joint", [&](const Value& table, const std::string& name, std::size_t body) {
    scene.joints.push_back(to_joint(table, name, body, bodies));
  });
  each_of_a_body("spring", [&](const Value& table, const std::string& name, std::size_t body) {
    scene.springs.push_back(to_spring(table, name, body, bodies));
  });
  each("probe", [&](const Value& table, const std::string& name) {
    scene.probes.push_back(to_probe(table, name, root, objects, bodies));
  });
  each_of_a_body("cut", [&](const Value& table, const std::string& name, std::size_t body) {
    scene.cuts.push_back({name, body, to_cut_surface(table, folder), table.at("time").number(), table.origin});
  });
  std::stable_sort(scene.cuts.begin(), scene.cuts.end(),
                   [](const SceneCut& a, const SceneCut& b) { return a.time < b.time; });
  each("collider", [&](const Value& table, const std::string& name) {
    scene.colliders.push_back(to_collider(table, name, folder, duration));
  });
  if (has_sound("contact")) gather([&] { scene.contact = to_contact(root.at("contact")); });
  const std::vector<std::string> muscles = each(
      "muscle", [&](const Value& table, const std::string& name) { scene.muscles.push_back(to_muscle(table, name)); });
  for (const SceneBody& body : scene.bodies)
    for (const SceneFibres& fibres : body.fibres)
      if (!fibres.muscle.empty() && std::find(muscles.begin(), muscles.end(), fibres.muscle) == muscles.end())
        gather([&] {
          const std::string near = nearest(fibres.muscle, muscles);
          fail(fibres.origin, fmt::format("there is no muscle '{}'; {}", fibres.muscle,
                                          near.empty() ? fmt::format("add [[muscle]] name = \"{}\"", fibres.muscle)
                                                       : fmt::format("did you mean '{}'?", near)));
        });
  if (has_sound("solver") && has_sound("simulation") && has_sound("output"))
    gather([&] { read_solver(root.at("solver"), root, changes.solver, scene); });
  wrong.report();
  scene.energies = objects.energies;
  scene.driven_gravity = objects.gravity;
  if (!find_solver(scene.solver.name).supports.links) make_links_rigid(scene);
  return scene;
}

Scene load_scene(const std::filesystem::path& path, const SceneChanges& changes) {
  Scene scene = scene_from_tree(read_toml(path), path.stem().string(), path.parent_path(), changes);
  scene.path = path;
  return scene;
}

Scene parse_scene(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                  const SceneChanges& changes) {
  return scene_from_tree(parse_toml(text, name), std::filesystem::path(name).stem().string(), folder, changes);
}

}  // namespace pliant
