#pragma once

#include <string_view>

#include "pliant/render/picture.hpp"

namespace pliant {

/// Pixels that a letter takes with the space behind it, and its height, at a scale of 1.
inline constexpr int kLetterWidth = 6, kLetterHeight = 7;

/// Writes a line of plain text with its upper left corner at (x, y), its strokes `scale` pixels wide. Some letters
/// reach two strokes below the line. What lies outside the picture is left out; letters that the font lacks become '?'.
void draw_text(Picture& picture, int x, int y, std::string_view text, int scale, Colour colour);
inline int text_width(std::string_view text, int scale) { return kLetterWidth * scale * static_cast<int>(text.size()); }

/// A filled rectangle, blended over what is there.
void draw_box(Picture& picture, int x, int y, int width, int height, Colour colour, double opacity = 1);

/// The colours of a map from bottom to top, with the values at its ends and its middle and a title above; its upper
/// left corner at (x, y).
struct Legend {
  std::string_view title;
  double low = 0, high = 1;
  ColourMap map = ColourMap::lagoon;
  bool is_clipped = false;  ///< whether values above `high` have its colour
};
void draw_legend(Picture& picture, const Legend& legend, int x, int y, int height, int scale, Colour colour);

}  // namespace pliant
