#include "pliant/render/picture_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace pliant {

namespace {

/// Seven rows of five dots a letter, and up to two below the line; a row is one character of base 32 (0-9, then a-v),
/// its leftmost dot 16. Dots are not what is seen: strokes that join neighbouring dots are, so that letters are smooth
/// at any size and need no tables of curves.
constexpr int kRows = kLetterHeight + 2, kColumns = 5;
struct Letter {
  char letter;
  std::array<char, kRows + 1> rows;
};
constexpr Letter kLetters[] = {
    {'0', "ehjlphe"}, {'1', "4c4444e"},   {'2', "eh1248v"},   {'3', "v2421he"},   {'4', "26aiv22"},   {'5', "vgu11he"},
    {'6', "68guhhe"}, {'7', "v124888"},   {'8', "ehhehhe"},   {'9', "ehhf12c"},   {'a', "00e1fhf"},   {'b', "ggmphhu"},
    {'c', "00egghe"}, {'d', "11djhhf"},   {'e', "00ehvge"},   {'f', "698s888"},   {'g', "00fhhhf1e"}, {'h', "ggmphhh"},
    {'i', "40c444e"}, {'j', "2062222ic"}, {'k', "ggikoki"},   {'l', "c44444e"},   {'m', "00qllhh"},   {'n', "00mphhh"},
    {'o', "00ehhhe"}, {'p', "00uhhhugg"}, {'q', "00fhhhf11"}, {'r', "00mpggg"},   {'s', "00ege1u"},   {'t', "88s8896"},
    {'u', "00hhhjd"}, {'v', "00hhha4"},   {'w', "00hhlla"},   {'x', "00ha4ah"},   {'y', "00hhhhf1e"}, {'z', "00v248v"},
    {'A', "ehhvhhh"}, {'B', "uhhuhhu"},   {'C', "ehggghe"},   {'D', "sihhhis"},   {'E', "vgguggv"},   {'F', "vgguggg"},
    {'G', "ehgnhhf"}, {'H', "hhhvhhh"},   {'I', "e44444e"},   {'J', "72222ic"},   {'K', "hikokih"},   {'L', "ggggggv"},
    {'M', "hrllhhh"}, {'N', "hhpljhh"},   {'O', "ehhhhhe"},   {'P', "uhhuggg"},   {'Q', "ehhhlid"},   {'R', "uhhukih"},
    {'S', "fgge11u"}, {'T', "v444444"},   {'U', "hhhhhhe"},   {'V', "hhhhha4"},   {'W', "hhhllla"},   {'X', "hha4ahh"},
    {'Y', "hhha444"}, {'Z', "v1248gv"},   {'.', "00000cc"},   {',', "00000cc48"}, {'-', "000v000"},   {'+', "044v440"},
    {'=', "00v0v00"}, {'(', "2488842"},   {')', "8422248"},   {'/', "01248g0"},   {':', "0cc0cc0"},   {'%', "op248j3"},
    {'^', "4ah0000"}, {'_', "000000v"},   {'*', "04lel40"},   {'\'', "c480000"},  {'<', "248g842"},   {'>', "8421248"},
    {'?', "eh12404"}, {'!', "4444404"},   {'#', "aavavaa"},   {' ', "0000000"}};

int value_of(char row) { return row < '0' ? 0 : row <= '9' ? row - '0' : row - 'a' + 10; }

bool has_dot(const Letter& letter, int column, int row) {
  return column >= 0 && column < kColumns && row >= 0 && row < kRows &&
         (value_of(letter.rows[static_cast<std::size_t>(row)]) >> (kColumns - 1 - column) & 1) != 0;
}

/// How much of each pixel a letter covers, row by row: `width` of them a row, beginning one pixel left of it and above
/// it.
struct Coverage {
  int width, height;
  std::vector<double> of_pixels;
};

/// Adds a stroke from the middle of the dot at (column, row) to that of its neighbour, as wide as a dot and with round
/// ends. A pixel at its edge is covered in part.
void add_stroke(Coverage& coverage, int column, int row, int along, int down, int scale) {
  const double x0 = (column + 0.5) * scale, y0 = (row + 0.5) * scale, dx = along * scale, dy = down * scale;
  const double length2 = dx * dx + dy * dy, half = 0.5 * scale, reach = half + 1;
  const auto pixels = [](double low, double high, int most) {
    return std::pair(std::clamp(static_cast<int>(low) + 1, 0, most), std::clamp(static_cast<int>(high) + 2, 0, most));
  };
  const auto [left, right] = pixels(std::min(x0, x0 + dx) - reach, std::max(x0, x0 + dx) + reach, coverage.width);
  const auto [top, bottom] = pixels(std::min(y0, y0 + dy) - reach, std::max(y0, y0 + dy) + reach, coverage.height);
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const double px = x - 0.5 - x0, py = y - 0.5 - y0;  // of the pixel's middle
      const double t = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0.0;
      const double ax = px - t * dx, ay = py - t * dy, distance = std::sqrt(ax * ax + ay * ay);
      double& covered = coverage.of_pixels[static_cast<std::size_t>(y * coverage.width + x)];
      covered = std::max(covered, std::clamp(half + 0.5 - distance, 0.0, 1.0));
    }
}

/// A diagonal joins two dots only where no third one makes a corner of them.
void cover(Coverage& coverage, const Letter& letter, int scale) {
  constexpr std::array<std::array<int, 2>, 5> ways = {{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {-1, 1}}};
  std::fill(coverage.of_pixels.begin(), coverage.of_pixels.end(), 0.0);
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      if (!has_dot(letter, column, row)) continue;
      for (const auto& [along, down] : ways) {
        if (!has_dot(letter, column + along, row + down)) continue;
        const bool is_diagonal = along != 0 && down != 0;
        if (is_diagonal && (has_dot(letter, column + along, row) || has_dot(letter, column, row + down))) continue;
        add_stroke(coverage, column, row, along, down, scale);
      }
    }
}

const Letter& find_letter(char c) {
  const auto* found =
      std::find_if(std::begin(kLetters), std::end(kLetters), [&](const Letter& l) { return l.letter == c; });
  return found != std::end(kLetters) ? *found : find_letter('?');
}

std::uint8_t to_byte(double c) { return static_cast<std::uint8_t>(std::lround(255 * std::clamp(c, 0.0, 1.0))); }

std::string number_text(double value, double span) {
  if (std::abs(value) < 1e-6 * std::abs(span)) value = 0;  // what rounding has left of nothing
  if (value != 0 && (std::abs(value) >= 1e5 || std::abs(value) < 1e-3)) return fmt::format("{:.2g}", value);
  const int digits = span > 0 ? std::clamp(2 - static_cast<int>(std::floor(std::log10(span))), 0, 4) : 2;
  return fmt::format("{:.{}f}", value, digits);
}

}  // namespace

void draw_box(Picture& picture, int x, int y, int width, int height, Colour colour, double opacity) {
  const std::array<double, 3> c = {colour.red, colour.green, colour.blue};
  for (int row = std::max(y, 0); row < std::min(y + height, picture.height); ++row)
    for (int column = std::max(x, 0); column < std::min(x + width, picture.width); ++column)
      for (std::size_t k = 0; k < 3; ++k) {
        std::uint8_t& byte = picture.rgb[3 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.width) +
                                              static_cast<std::size_t>(column)) +
                                         k];
        byte = to_byte((1 - opacity) * byte / 255.0 + opacity * c[k]);
      }
}

void draw_text(Picture& picture, int x, int y, std::string_view text, int scale, Colour colour) {
  Coverage coverage{.width = kColumns * scale + 2, .height = kRows * scale + 2, .of_pixels = {}};
  coverage.of_pixels.resize(static_cast<std::size_t>(coverage.width * coverage.height));
  for (char c : text) {
    cover(coverage, find_letter(c), scale);
    for (int row = 0; row < coverage.height; ++row)
      for (int column = 0; column < coverage.width; ++column)
        if (const double covered = coverage.of_pixels[static_cast<std::size_t>(row * coverage.width + column)];
            covered > 0)
          draw_box(picture, x + column - 1, y + row - 1, 1, 1, colour, covered);
    x += kLetterWidth * scale;
  }
}

void draw_legend(Picture& picture, const Legend& legend, int x, int y, int height, int scale, Colour colour) {
  draw_text(picture, x, y, legend.title, scale, colour);
  const int top = y + 2 * kLetterHeight * scale, width = 2 * kLetterWidth * scale;
  const int bar = std::max(height - 2 * kLetterHeight * scale, 1);
  for (int row = 0; row < bar; ++row)
    draw_box(picture, x, top + row, width, 1,
             map_colour(legend.map, bar > 1 ? 1 - static_cast<double>(row) / (bar - 1) : 0.5));
  for (int tick = 0; tick < 3; ++tick) {
    const double value = legend.high - (legend.high - legend.low) * tick / 2;
    draw_text(picture, x + width + 3 * scale, top + (bar - kLetterHeight * scale) * tick / 2,
              (tick == 0 && legend.is_clipped ? "> " : "") + number_text(value, legend.high - legend.low), scale,
              colour);
  }
}

}  // namespace pliant
