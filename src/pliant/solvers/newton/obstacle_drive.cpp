#include "pliant/solvers/newton/obstacle_drive.hpp"

#include <fmt/format.h>

#include <cmath>

namespace pliant {

void ObstacleDrive::begin_step() {
  drives_ = gives_way_ = false;
  room_ = 0;
}

void ObstacleDrive::begin_iteration(const VecX& x, bool in_balance) {
  drives_ = !arrived() && (!gives_way_ || in_balance);
  if (drives_) room_ = contact_->minimum_gap(x);
}

LineSearchResult ObstacleDrive::move(const Iterate& current, const VecX& dx, double largest, double smallest,
                                     Iterate& trial) {
  const double progress = contact_->progress();
  LineSearchResult result;
  for (double alpha = largest; alpha >= smallest; alpha /= 2) {
    trial.x = current.x + alpha * dx;
    if (alpha == 1) function_.problem().impose_boundary(trial.x);
    contact_->place_obstacles(alpha == 1 ? 1 : progress + alpha * (1 - progress));
    trial.energy = function_.gradient(trial.x, trial.gradient);
    ++result.evaluations;
    if (!std::isfinite(trial.energy)) continue;
    result.accepted = true;
    result.alpha = alpha;
    return result;
  }
  contact_->place_obstacles(progress);
  return result;
}

void ObstacleDrive::end_iteration(const VecX& x, double alpha) {
  gives_way_ = (drives_ || gives_way_) && alpha < 1 && contact_->minimum_gap(x) < room_;
}

std::string ObstacleDrive::describe(const VecX& x) {
  if (arrived()) return "";
  return fmt::format("; the prescribed motion is {:.0f}% complete, the least gap is {:.2g} m",
                     100 * contact_->progress(), contact_->minimum_gap(x));
}

}  // namespace pliant
