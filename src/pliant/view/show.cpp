#include "pliant/view/show.hpp"

#include <algorithm>

namespace pliant::view {

void ColourRange::follow(Colour colour, Drawing& drawing) {
  constexpr double kFall = 0.98;  // a frame
  if (colour != colour_) high_ = 0;
  colour_ = colour;
  drawing.low = colour == Colour::stretch ? 1 : 0;
  if (colour == Colour::refreshed) {
    drawing.high = 1;
    return;
  }
  double most = 0;
  for (double value : drawing.values)
    if (std::isfinite(value)) most = std::max(most, value - drawing.low);
  high_ = std::max(most, kFall * high_);
  drawing.high = drawing.low + high_;
}

}  // namespace pliant::view
