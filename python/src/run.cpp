#include "pliant/io/run.hpp"

#include <pybind11/stl.h>

#include <optional>

#include "bindings.hpp"
#include "interrupts.hpp"
#include "simulation.hpp"

namespace pliant::python {

namespace {

/// Hands what happens between steps to Python functions. An interruption (Ctrl-C) ends the run after the current step,
/// with everything written, and is raised then; a step that takes long is left (interrupts.hpp). Any other exception
/// ends the run at once.
class Observer final : public RunObserver {
 public:
  Observer(SharedSimulation& owner, py::object before_step, py::object on_step, py::object on_notice)
      : owner_(owner),
        before_step_(std::move(before_step)),
        on_step_(std::move(on_step)),
        on_notice_(std::move(on_notice)) {}

  void before_step(double time) override {
    const py::gil_scoped_acquire acquire;
    guarded([&] { before_step_(time); });
    interrupts_.begin_step();
  }
  void on_step(const State&, const StepReport& report) override {
    const py::gil_scoped_acquire acquire;
    guarded([&] {
      const bool took = owner_.simulation().took(report);
      if (on_step_(to_dict(report, took)).cast<bool>()) stop_ = true;
    });
  }
  void on_notice(const std::string& text) override {
    const py::gil_scoped_acquire acquire;
    on_notice_(text);
  }
  bool wants_stop() override {
    const py::gil_scoped_acquire acquire;
    guarded([] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    });
    return stop_;
  }
  /// Raises the interruption, if there was one. Needs the interpreter's lock.
  void raise_interruption() {
    if (interruption_) throw *std::move(interruption_);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();  // of a step that was left
  }
  StepControl* control() { return interrupts_.control(); }

 private:
  template <class Body>
  void guarded(Body&& body) {
    try {
      const SharedSimulation::Pause pause(owner_);
      body();
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;
      interruption_.emplace(std::move(error));
      stop_ = true;
    }
  }

  SharedSimulation& owner_;
  StepInterrupts interrupts_;
  py::object before_step_, on_step_, on_notice_;
  std::optional<py::error_already_set> interruption_;
  bool stop_ = false;
};

py::dict totals_of(const RunTotals& totals) {
  py::dict dict;
  dict["steps"] = totals.steps;
  dict["iterations"] = totals.iterations;
  dict["factorisations"] = totals.factorisations;
  dict["failed_factorisations"] = totals.failed_factorisations;
  dict["linear_iterations"] = totals.linear_iterations;
  dict["projected_iterations"] = totals.projected_iterations;
  dict["line_search_evaluations"] = totals.line_search_evaluations;
  dict["newton_steps"] = totals.newton_steps;
  dict["smallest_alpha"] = totals.smallest_alpha;
  dict["outcomes"] = totals.outcomes;
  return dict;
}

py::dict run(SharedSimulation& self, std::int64_t last_step, const std::string& folder, const std::string& start,
             const py::object& before_step, const py::object& on_step, const py::object& on_notice) {
  RunOptions options;
  options.last_step = last_step;
  options.folder = folder;
  options.start = start == "resume" ? RunStart::resume : start == "replace" ? RunStart::replace : RunStart::fresh;
  if (Part* part = self.part()) options.processes = [part] { return part->figures(); };
  Observer observer(self, before_step, on_step, on_notice);
  options.control = observer.control();
  const RunResult result = self.work([&](Simulation& s) { return pliant::run(s, options, observer); });
  observer.raise_interruption();
  py::dict dict;
  dict["end"] = to_string(result.end);
  dict["detail"] = result.last_report.detail;
  dict["doubts"] = py::tuple(py::cast(result.doubts));
  dict["failed_exports"] = py::tuple(py::cast(result.failed_exports));
  dict["steps"] = result.state.step - result.first_step;
  dict["wall_seconds"] = result.wall_seconds;
  dict["totals"] = totals_of(result.totals);
  return dict;
}

}  // namespace

void bind_run(py::module_& module) { module.def("run", &run); }

}  // namespace pliant::python
