#include "pliant/sim/rayleigh.hpp"

namespace pliant {

void assemble_rayleigh(const Model& model, Assembler& assembler, std::size_t energies, const State& state,
                       BlockMatrix& D) {
  D.set_zero();
  std::vector<double> beta(energies, 0.0);
  for (std::size_t b = 0; b < model.bodies().size(); ++b) {
    beta[b] = model.bodies()[b].damping.stiffness;
    const Range nodes = model.bodies()[b].nodes;
    if (const double alpha = model.bodies()[b].damping.mass; alpha > 0)
      for (Index i = nodes.begin; i < nodes.end; ++i) {
        double* diagonal = D.block(model.pattern()->diagonal(i));
        for (int c = 0; c < 3; ++c) diagonal[4 * c] += alpha * model.mass().lumped()[i];
      }
  }
  assembler.add_hessian({state.x, state.activation, state.time}, Projection::analytic, D, beta);
}

}  // namespace pliant
