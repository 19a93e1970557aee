#include "pliant/solvers/quasi_newton/quasi_newton_catalogue.hpp"

#include "pliant/solvers/parameter_names.hpp"
#include "pliant/solvers/quasi_newton/quasi_newton_stepper.hpp"

namespace pliant {

namespace {

const ParameterNames<LaplacianMatrix::Precision> kPrecisions = {
    {"float", LaplacianMatrix::Precision::single_precision}, {"double", LaplacianMatrix::Precision::double_precision}};

const ParameterNames<InitialHessianKind> kHessians = {{"laplacian", InitialHessianKind::laplacian},
                                                      {"scaled-identity", InitialHessianKind::scaled_identity},
                                                      {"rest-pose", InitialHessianKind::rest_pose},
                                                      {"warped-rest-pose", InitialHessianKind::warped_rest_pose},
                                                      {"frame-start", InitialHessianKind::frame_start}};
const ParameterNames<bool> kLinear = {{"direct", false}, {"pcg", true}};
const ParameterNames<InitialPreconditioner> kPreconditioners = {{"laplacian", InitialPreconditioner::laplacian},
                                                                {"rest-pose", InitialPreconditioner::rest_pose},
                                                                {"jacobi", InitialPreconditioner::jacobi}};

std::vector<Parameter> quasi_newton_parameters() {
  return {
      choice_parameter("integrator", kMinimisingIntegratorNames,
                       "time integration; implicit-midpoint does not damp, quasistatic drops inertia"),
      {"iterations", std::int64_t{10}, "", "of every step; fewer when a tolerance is met before", {}, 1.0, 1e6},
      {"tolerance",
       0.0,
       "m/s^2, N, 1 or m/s",
       "stop before when the criterion is met; 0: always spend the iterations",
       {},
       0.0},
      choice_parameter("criterion", kCriterionNames, "what tolerance is compared with"),
      choice_parameter("line_search", kLineSearchNames, kLineSearchSummary),
      {"armijo", 0.3, "", "fraction of the predicted decrease that a step must achieve", {}, 0.0, 0.5},
      choice_parameter("factor", kPrecisions, "how the constant factor is stored: float halves the bytes of a solve"),
      choice_parameter("hessian", kHessians,
                       "what the direction is made with: a constant matrix for x, y and z alike, or what the paper "
                       "compares it with"),
      choice_parameter("linear", kLinear,
                       "how it is solved with; pcg for the hessians laplacian and frame-start, a fixed number of "
                       "iterations"),
      choice_parameter(
          "preconditioner", kPreconditioners,
          "of pcg: an incomplete factorisation of the laplacian or of the rest-pose Hessian, or the diagonal"),
      {"linear_iterations", std::int64_t{15}, "", "of pcg", {}, 1.0, 1e6},
      {"smallest_stretch", 0.5, "", "from where the stiffness of the laplacian is fitted to the law", {}, 0.01, 0.999},
      {"largest_stretch", 1.5, "", "up to where", {}, 1.001, 100.0},
      {"history", false, "", "record every iteration in the report", {}},
  };
}

SolverEntry entry(std::string name, std::string summary, std::vector<Parameter> more,
                  std::function<void(const ParameterMap&, QuasiNewtonOptions&)> apply) {
  SolverEntry entry{name, "quasi-newton", std::move(summary), quasi_newton_parameters(), nullptr};
  entry.parameters.insert(entry.parameters.begin() + 1, more.begin(), more.end());
  entry.make = [name, apply](std::shared_ptr<const Model> model, const ParameterMap& values) {
    QuasiNewtonOptions options;
    options.name = name;
    options.integrator = chosen_value(values, "integrator", kMinimisingIntegratorNames);
    options.iterations = static_cast<int>(std::get<std::int64_t>(values.at("iterations")));
    options.criterion.kind = chosen_value(values, "criterion", kCriterionNames);
    options.criterion.tolerance = std::get<double>(values.at("tolerance"));
    options.stops_early = options.criterion.tolerance > 0;
    options.line_search.kind = chosen_value(values, "line_search", kLineSearchNames);
    options.line_search.decrease = std::get<double>(values.at("armijo"));
    options.hessian.kind = chosen_value(values, "hessian", kHessians);
    options.hessian.iterative = chosen_value(values, "linear", kLinear);
    options.hessian.preconditioner = chosen_value(values, "preconditioner", kPreconditioners);
    options.hessian.linear_iterations = static_cast<int>(std::get<std::int64_t>(values.at("linear_iterations")));
    options.hessian.laplacian.precision = chosen_value(values, "factor", kPrecisions);
    options.hessian.laplacian.stretches = {std::get<double>(values.at("smallest_stretch")),
                                           std::get<double>(values.at("largest_stretch"))};
    options.history = std::get<bool>(values.at("history"));
    apply(values, options);
    return std::make_unique<QuasiNewtonStepper>(std::move(model), options);
  };
  return entry;
}

}  // namespace

std::vector<SolverEntry> quasi_newton_solvers() {
  return {
      entry("quasi-newton", "one constant matrix for ever, accelerated by L-BFGS: any material in real time",
            {{"window", std::int64_t{5}, "", "pairs that L-BFGS remembers; 0 is projective-dynamics", {}, 0.0, 100.0}},
            [](const ParameterMap& values, QuasiNewtonOptions& options) {
              options.window = static_cast<int>(std::get<std::int64_t>(values.at("window")));
            }),
      entry("projective-dynamics", "the same constant matrix without L-BFGS; local/global steps for ARAP and springs",
            {}, [](const ParameterMap&, QuasiNewtonOptions& options) { options.window = 0; }),
      entry("chebyshev", "projective-dynamics with Chebyshev's acceleration",
            {{"start", std::int64_t{10}, "", "plain iterations before acceleration", {}, 1.0, 1e6},
             {"spectral_radius", 0.0, "", "rho; 0: estimated at rest by power iteration", {}, 0.0, 0.99999}},
            [](const ParameterMap& values, QuasiNewtonOptions& options) {
              options.method = QuasiNewtonMethod::chebyshev;
              options.chebyshev_start = static_cast<int>(std::get<std::int64_t>(values.at("start")));
              options.spectral_radius = std::get<double>(values.at("spectral_radius"));
            }),
  };
}

}  // namespace pliant
