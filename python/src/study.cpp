#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings.hpp"
#include "pliant/base/atomic_file.hpp"
#include "pliant/compare/compare.hpp"
#include "pliant/io/animation/draw.hpp"
#include "pliant/io/animation/export.hpp"

namespace pliant::python {

namespace py = pybind11;

namespace {

py::dict export_it(const std::filesystem::path& run, const std::string& format, const std::filesystem::path& out,
                   std::int64_t every, bool volume, const std::string& colour,
                   const std::optional<std::array<double, 2>>& range, bool colliders, bool visual) {
  ExportOptions options;
  options.format = format;
  options.out = out;
  options.animation.every = every;
  options.animation.faces = volume ? Faces::all : Faces::outside;
  options.animation.colour = colour;
  options.animation.range = range;
  options.animation.colliders = colliders;
  options.animation.visual = visual;
  ExportResult result;
  {
    const py::gil_scoped_release release;
    result = export_run(run, options);
  }
  py::dict dict;
  dict["out"] = result.out.string();
  std::vector<std::string> files;
  for (const auto& file : result.files) files.push_back(file.string());
  dict["files"] = files;
  dict["frames"] = result.frames;
  dict["every"] = result.every;
  return dict;
}

/// A number of numbers, or nothing.
template <class T, std::size_t N>
using Some = std::optional<std::array<T, N>>;

void draw_it(const std::filesystem::path& run, const std::filesystem::path& out, const std::filesystem::path& film,
             const std::string& colour, const Some<double, 2>& range, const Some<double, 3>& from,
             const Some<double, 3>& at, std::optional<double> fov, const Some<int, 2>& size,
             const Some<double, 3>& background, std::optional<bool> legend, std::optional<bool> stamp,
             std::optional<bool> wireframe, std::optional<bool> shadows, std::int64_t every, double fps) {
  const auto vector = [](const Some<double, 3>& v) {
    return v ? std::optional(Vec3((*v)[0], (*v)[1], (*v)[2])) : std::nullopt;
  };
  const py::gil_scoped_release release;
  const RecordedRun recorded(run);
  const ScenePicture picture = changed(recorded.picture(), {vector(from), vector(at), vector(background), fov, size,
                                                            range, colour, legend, stamp, wireframe, shadows});
  if (film.empty())
    draw_run(recorded, picture, out.empty() ? run : out);
  else
    draw_film(recorded, picture, {every, fps}, film);
}

/// Asks Python between trials whether to go on; Ctrl-C ends the comparison with what there is, and is raised after.
CompareProgress asking(const py::object& progress) {
  return [&progress](const std::string& what, int number, int of) {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress.is_none()) progress(what, number, of);
    return true;
  };
}

/// What was measured, as JSON: numbers become arrays in Python.
std::string finish(const SceneComparison& comparison, const std::filesystem::path& out) {
  const std::string json = to_json_text(comparison);
  if (!out.empty()) {
    std::filesystem::create_directories(out);
    write_atomically(out / "compare.json", json);
    write_atomically(out / "compare.html", to_html(comparison));
  }
  return json;
}

CompareOptions options_of(const std::vector<std::string>& solvers, const std::string& reference, std::int64_t steps,
                          double budget, bool curves, const std::filesystem::path& out) {
  CompareOptions options;
  options.solvers = solvers;
  options.reference = reference;
  options.steps = steps;
  options.budget = budget;
  options.curves = curves;
  if (out.empty()) options.moments = 0;
  return options;
}

std::string compare_it(const std::filesystem::path& scene, const std::vector<std::string>& set,
                       const std::vector<std::string>& solvers, const std::string& reference, std::int64_t steps,
                       double budget, bool curves, const std::filesystem::path& out, const py::object& progress) {
  const CompareOptions options = options_of(solvers, reference, steps, budget, curves, out);
  const py::gil_scoped_release release;
  return finish(compare_solvers(scene, {set, ""}, options, asking(progress)), out);
}

std::string sweep_it(const std::filesystem::path& scene, const std::vector<std::string>& set, const std::string& solver,
                     const std::string& key, const std::vector<std::string>& values, const std::string& reference,
                     std::int64_t steps, const std::filesystem::path& out, const py::object& progress) {
  const CompareOptions options = options_of({}, reference, steps, 0, false, out);
  const py::gil_scoped_release release;
  return finish(sweep_key(scene, {set, solver}, key, values, options, asking(progress)), out);
}

}  // namespace

void bind_study(py::module_& module) {
  module.def("export_run", &export_it);
  module.def("compare", &compare_it);
  module.def("sweep", &sweep_it);
  module.def("draw_run", &draw_it);
}

}  // namespace pliant::python
