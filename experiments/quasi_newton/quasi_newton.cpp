#include "experiments/quasi_newton/quasi_newton.hpp"

namespace pliant::experiments {

std::vector<Experiment> quasi_newton_experiments() { return {table1(), convergence()}; }

}  // namespace pliant::experiments
