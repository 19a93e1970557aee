#include "experiments/pxpbd/pxpbd.hpp"

namespace pliant::experiments {

std::vector<Experiment> pxpbd_experiments() {
  return {pxpbd_residual(), pxpbd_equal_budget(), pxpbd_sqrt_energy(), pxpbd_neo_hookean(), pxpbd_muscle_box(),
          pxpbd_grid(),     pxpbd_stability(),    pxpbd_zeta(),        pxpbd_identities(),  pxpbd_cost(),
          pxpbd_laws(),     pxpbd_colouring(),    pxpbd_objects()};
}

}  // namespace pliant::experiments
