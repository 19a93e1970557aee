// Position-based solvers with their defaults beside Newton's method, on what users do with them: a bar that hangs, a
// cube that is dropped, a beam that is twisted, a bar that is squeezed, a bone in flesh; every law, stiffness numbers
// from 1 to 600. A run counts as good when its body is never larger than three times what Newton has, when no element
// is inverted at the end where Newton has none, and when it stays near Newton's motion.

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <chrono>
#include <cmath>

#include "experiments/pxpbd/pxpbd.hpp"
#include "pliant/contact/collider.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/pxpbd/pxpbd_stepper.hpp"

namespace pliant::experiments {

namespace {

constexpr double kFrame = 1.0 / 60;  // s

BodyOptions flesh_box(const Vec3& size, std::array<Index, 3> cells, const std::string& law, double young,
                      double poisson) {
  BodyOptions body;
  body.mesh = std::make_shared<TetMesh>(box({.size = size, .cells = cells}));
  body.density = 1000;
  const bool is_muscle = law == "muscle";
  body.material = {find_law(is_muscle ? "neo-hookean" : law), lame_from_young(young, poisson)};
  if (is_muscle) body.fibres = {{find_fibre_law("muscle"), {{young, 1.4, 0}}, {Vec3::UnitX()}, -1}};
  return body;
}

/// A bone of 1e9 Pa along the axis of an arm of 2e4 Pa.
void put_bone_in(BodyOptions& body, const Vec3& size) {
  for (const Tet& t : body.mesh->tets()) {
    Vec3 centre = Vec3::Zero();
    for (Index i : t) centre += 0.25 * body.mesh->vertices()[static_cast<std::size_t>(i)];
    const double y = std::abs(centre.y() / size.y() - 0.5), z = std::abs(centre.z() / size.z() - 0.5);
    body.lame.push_back(y < 0.25 && z < 0.25 ? lame_from_young(1e9, 0.3) : body.material.lame);
  }
}

std::shared_ptr<const Model> dropped_body(ModelBuilder& builder, BodyOptions body, double height, double speed,
                                          ColliderLaw law) {
  body.velocity = {0, -speed, 0};
  builder.add_body(body);
  builder.set_collider_law(law);
  builder.add_collider({"floor", PlaneShape{Vec3(0, -height, 0), Vec3::UnitY()}, {}, 1e5, 0.3});
  return builder.build();
}

/// The scenes, by name; `cells` is the number along the shortest edge, `mesh` what is dropped in the scene of that
/// name.
std::shared_ptr<const Model> build_beside(const std::string& scene, const std::string& law, Index cells,
                                          const std::string& mesh) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  if (scene.starts_with("hang")) {  // hang, hang-1, hang-10, hang-100: a stiffness number
    const double share = scene == "hang" ? 1 : std::stod(scene.substr(5)) / 615;
    builder.set_gravity({0, -9.81 * share, 0});
    const BodyOptions body = flesh_box({0.2, 0.04, 0.04}, {10, 2, 2}, law, 1e5 * share, 0.45);
    builder.add_body(body);
    builder.add_pin({"hook", body.mesh->sets().at("x-min")});
    return builder.build();
  }
  if (scene == "drop" || scene == "drop-penalty")
    return dropped_body(builder, flesh_box({1, 1, 1}, {cells, cells, cells}, law, 1e5, 0.4), 1, 0,
                        scene == "drop" ? ColliderLaw::barrier : ColliderLaw::penalty);
  if (scene == "incompressible")
    return dropped_body(builder, flesh_box({1, 1, 1}, {4, 4, 4}, law, 1e5, 0.4999), 0.01, 4.43, ColliderLaw::penalty);
  if (scene == "bullet")
    return dropped_body(builder, flesh_box({1, 1, 1}, {4, 4, 4}, law, 1e5, 0.4), 0.01, 300, ColliderLaw::penalty);
  if (scene == "mesh") {
    BodyOptions body = flesh_box({1, 1, 1}, {1, 1, 1}, law, 1e5, 0.4);
    body.mesh = std::make_shared<TetMesh>(read_mesh(mesh));
    double low = 1e300;
    for (const Vec3& p : body.mesh->vertices()) low = std::min(low, p.y());
    return dropped_body(builder, body, 0.1 - low, 0, ColliderLaw::barrier);
  }
  if (scene == "twist") {
    const BodyOptions body = flesh_box({4, 1, 1}, {4 * cells, cells, cells}, law, 1e6, 0.45);
    builder.add_body(body);
    builder.add_pin({"wall", body.mesh->sets().at("x-min")});
    Script grip{"grip", body.mesh->sets().at("x-max"), {}};
    grip.motion.axis = Vec3::UnitX();
    grip.motion.centre = {4, 0.5, 0.5};
    grip.motion.angle.keys = {{0, 0.0}, {2, 3 * M_PI}};
    builder.add_script(grip);
    return builder.build();
  }
  if (scene == "squeeze") {
    const BodyOptions body = flesh_box({0.4, 0.2, 0.2}, {2 * cells, cells, cells}, law, 1e5, 0.4);
    builder.add_body(body);
    builder.add_pin({"wall", body.mesh->sets().at("x-min")});
    Script press{"press", body.mesh->sets().at("x-max"), {}, Imposition::direct};
    press.motion.translation.keys = {{0, Vec3::Zero()}, {0.5, Vec3(-0.16, 0, 0)}};
    builder.add_script(press);
    return builder.build();
  }
  const Vec3 size(0.4, 0.1, 0.1);  // bone
  BodyOptions body = flesh_box(size, {16, 4, 4}, law, 2e4, 0.45);
  put_bone_in(body, size);
  builder.add_body(body);
  builder.add_pin({"shoulder", body.mesh->sets().at("x-min")});
  return builder.build();
}

double extent_of(const VecX& x) {
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (Eigen::Index i = 0; i < x.size(); i += 3) {
    low = low.cwiseMin(x.segment<3>(i));
    high = high.cwiseMax(x.segment<3>(i));
  }
  return (high - low).norm();
}

int inverted_in(const Model& model, const VecX& x) {
  int count = 0;
  for (const Body& body : model.bodies())
    for (const Tet& t : body.mesh->tets()) {
      Mat3 edges;
      for (std::size_t a = 1; a < 4; ++a)
        edges.col(static_cast<Eigen::Index>(a) - 1) =
            node(x, body.nodes.begin + t[a]) - node(x, body.nodes.begin + t[0]);
      count += !(edges.determinant() > 0);
    }
  return count;
}

/// The states of a run, frame by frame.
struct Course {
  std::vector<VecX> frames;
  std::string outcome = "done";
  double seconds = 0;
  int corrections = 0, linear = 0;
};

Course run_beside(const std::shared_ptr<const Model>& model, const std::string& solver, const ParameterMap& parameters,
                  int frames) {
  const auto stepper = make_stepper(model, solver, parameters);
  State state = model->rest_state();
  Course course;
  const auto start = std::chrono::steady_clock::now();
  for (int s = 0; s < frames; ++s) {
    const StepReport report = stepper->step(state, kFrame);
    if (!report.advanced()) {
      course.outcome = fmt::format("{} in frame {}", to_string(report.outcome), s);
      break;
    }
    course.linear += report.linear_iterations;
    for (const Figure& figure : report.figures)
      if (figure.name == "corrections") course.corrections += static_cast<int>(figure.value);
    course.frames.push_back(state.x);
  }
  course.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return course;
}

void run_beside_newton(Context& context) {
  const int frames = static_cast<int>(context.number("frames"));
  ParameterMap parameters;
  for (const std::string& setting : context.list("settings")) {
    const auto at = setting.find('=');
    if (at == std::string::npos) continue;
    const std::string key = setting.substr(0, at), value = setting.substr(at + 1);
    if (value.find_first_not_of("0123456789") == std::string::npos)
      parameters[key] = static_cast<std::int64_t>(std::stoll(value));
    else if (value.find_first_not_of("0123456789.e-") == std::string::npos)
      parameters[key] = std::stod(value);
    else
      parameters[key] = value;
  }
  int rows = 0, bad = 0;
  for (const std::string& scene : context.list("scenes"))
    for (const std::string& law : context.list("laws")) {
      if (context.stopped()) return;
      const auto model = build_beside(scene, law, static_cast<Index>(context.number("cells")), context.text("mesh"));
      const Course exact = run_beside(model, "pod-newton", {}, frames);
      double motion = 0, largest = 0;
      for (const VecX& x : exact.frames) {
        motion = std::max(motion, (x - model->rest()).cwiseAbs().maxCoeff());
        largest = std::max(largest, extent_of(x));
      }
      for (const std::string& solver : context.list("solvers")) {
        Course ours;
        try {
          ours = run_beside(model, solver, parameters, frames);
        } catch (const std::exception&) {
          continue;  // a law that the solver does not take
        }
        double off = 0, extent = 0;
        for (std::size_t k = 0; k < std::min(ours.frames.size(), exact.frames.size()); ++k) {
          off = std::max(off, (ours.frames[k] - exact.frames[k]).cwiseAbs().maxCoeff());
          extent = std::max(extent, extent_of(ours.frames[k]));
        }
        const int inverted = ours.frames.empty() ? 0 : inverted_in(*model, ours.frames.back());
        const int inverted_exactly = exact.frames.empty() ? 0 : inverted_in(*model, exact.frames.back());
        const bool is_good = off <= 0.1 * motion && extent < 3 * largest && (inverted == 0 || inverted_exactly > 0) &&
                             ours.frames.size() == exact.frames.size();
        ++rows;
        bad += !is_good;
        context.row({{"scene", scene},
                     {"law", law},
                     {"solver", solver},
                     {"extent", extent / largest},
                     {"inverted", inverted},
                     {"of_motion", off / motion},
                     {"motion", motion},
                     {"newton_s", exact.seconds},
                     {"seconds", ours.seconds},
                     {"corrections", ours.corrections},
                     {"linear", ours.linear},
                     {"outcome", ours.outcome + (exact.outcome == "done" ? "" : ", newton: " + exact.outcome)},
                     {"good", is_good}});
      }
    }
  context.check({"every run is near Newton's, with nothing inverted", "all", fmt::format("{} of {}", rows - bad, rows),
                 bad == 0});
}

}  // namespace

Experiment pxpbd_beside_newton() {
  return {
      "pxpbd/beside-newton",
      "Hanging, dropped, twisted, squeezed, with a bone: defaults of the position-based solvers beside Newton",
      {{"scenes", "hang-1,hang-10,hang-100,hang,drop,drop-penalty,twist,squeeze,bone,incompressible,bullet",
        "hang,squeeze,bone", "which"},
       {"laws", "neo-hookean,mooney-rivlin,stvk,spline-a,linear-corotated,muscle,fixed-corotated,stable-neo-hookean",
        "neo-hookean,fixed-corotated", "of the material"},
       {"solvers", "fp-pxpbd,b-pxpbd,xpbd", "fp-pxpbd", "beside pod-newton"},
       {"settings", "", "", "of these solvers, as key=value"},
       {"cells", "7", "4", "across a body, in drop, twist and squeeze"},
       {"mesh", "", "", "a file of tetrahedra to drop by 10 cm, in the scene of that name"},
       {"frames", "60", "20", "of 1/60 s"}},
      run_beside_newton};
}

}  // namespace pliant::experiments
