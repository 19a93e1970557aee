#include "pliant/view/show.hpp"

#include <algorithm>

namespace pliant::view {

void ColourRange::follow(Colour colour, Snapshot& snapshot) {
  constexpr double kFall = 0.98;  // a frame
  if (colour != colour_) high_ = 0;
  colour_ = colour;
  snapshot.low = colour == Colour::stretch ? 1 : 0;
  if (colour == Colour::refreshed) {
    snapshot.high = 1;
    return;
  }
  double most = 0;
  for (double value : snapshot.values)
    if (std::isfinite(value)) most = std::max(most, value - snapshot.low);
  high_ = std::max(most, kFall * high_);
  snapshot.high = snapshot.low + high_;
}

}  // namespace pliant::view
