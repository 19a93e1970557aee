#include "pliant/render/picture.hpp"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "pliant/base/error.hpp"
#include "pliant/math/parallel.hpp"
#include "pliant/render/picture_lattice.hpp"
#include "pliant/render/picture_light.hpp"
#include "pliant/render/picture_scene.hpp"
#include "pliant/render/picture_visible.hpp"

// Three passes: the first finds what is seen at each sample (several a pixel), the second the light that falls on it at
// every fourth pixel, the third colours the pixels: once for each surface that a pixel shows, by its share of samples.

namespace pliant {

namespace {

constexpr int most_pixels_along = 16384;
constexpr Index tile_side = 32;  // pixels along each side of what is coloured at a time
constexpr double gloss = 0.07;   // strength of the highlight
constexpr double edge_opacity = 0.8;
constexpr double ground_shade = 0.82;  // how dark the deepest shadow on the ground is
constexpr double alike = 0.97;         // cosine between pieces that a pixel shows as one
constexpr Colour glass_colour = {0.38, 0.43, 0.52};

void check(const PictureOptions& options) {
  if (options.width < 1 || options.height < 1 || options.width > most_pixels_along ||
      options.height > most_pixels_along) {
    throw InputError(fmt::format("picture: the size is {} x {} pixels; give 1 to {} for each.", options.width,
                                 options.height, most_pixels_along));
  }
  if (options.supersampling < 1 || options.supersampling > 3) {
    throw InputError(fmt::format("picture: supersampling is {}; give 1, 2 or 3.", options.supersampling));
  }
}

class Renderer {
 public:
  Renderer(const PictureScene& scene, const Camera& camera, const PictureOptions& options)
      : scene_(scene),
        options_(options),
        image_(scene, camera, options),
        light_(scene, image_.vertical(), image_.frame().right,
               image_.frame().right.cross(image_.vertical()).normalized(), options.width,
               options.shadows ? PictureLight::Shadows::all : PictureLight::Shadows::none),
        lattice_(scene, image_, light_),
        per_side_(options.supersampling),
        edge_(to_linear(options.edge_colour)),
        glass_(to_linear(glass_colour)) {
    const LinearColour top = to_linear(options.background_top), bottom = to_linear(options.background_bottom);
    for (Index row = 0; row < options.height; ++row) {
      const double t = (row + 0.5) / options.height, s = t * t * (3 - 2 * t);
      LinearColour& colour = background_.emplace_back();
      for (std::size_t k = 0; k < 3; ++k) colour[k] = (1 - s) * top[k] + s * bottom[k];
      background_bytes_.push_back({to_byte_(colour[0]), to_byte_(colour[1]), to_byte_(colour[2])});
    }
  }

  Picture run() const {
    Picture picture{options_.width, options_.height, {}};
    picture.rgb.resize(3 * static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height));
    for_chunks(picture.height, VisibleImage::kBandRows, [&](Index begin, Index end) {
      VisibleBand band;
      image_.look(begin / VisibleImage::kBandRows, band);
      Tile tile;
      for (Index left = 0; left < picture.width; left += tile_side)
        colour_tile(band, {begin, end}, {left, std::min(left + tile_side, picture.width)}, tile, picture);
    });
    return picture;
  }

 private:
  /// The samples of a pixel that show one surface, inclined in one way, or the ground, or the background.
  struct Patch {
    Seen what = Seen::background;
    Index id = -1;
    double samples = 0;
    double on_edges = 0;  ///< how many of them, in sum
    double passed = 0;    ///< sum of what the glass before them lets pass
    VisibleImage::Point point;
    Vec3 to_viewer;
    LightLattice::Received received;
    int lamp = -1, sky = -1;  ///< where in the lists of those that ask for light of their own
  };
  struct Pixel {
    Index row;
    std::uint8_t* rgb;
    std::size_t end;  ///< of its patches
  };
  /// The pixels of a tile that are not plain background or evenly lit ground, their patches, one pixel after the other,
  /// and the points that the lattice does not know the light of.
  struct Tile {
    std::vector<Pixel> pixels;
    std::vector<Patch> patches;
    LitPoints lamp, sky;
    void clear() {
      pixels.clear();
      patches.clear();
      lamp.resize(0);
      sky.resize(0);
    }
  };

  void colour_tile(const VisibleBand& band, const Range& rows, const Range& columns, Tile& tile,
                   Picture& picture) const {
    tile.clear();
    for (Index row = rows.begin; row < rows.end; ++row) {
      std::uint8_t* rgb = picture.rgb.data() + 3 * (std::ptrdiff_t{row} * picture.width + columns.begin);
      for (Index column = columns.begin; column < columns.end; ++column, rgb += 3) {
        const bool is_covered = column >= band.columns().begin && column < band.columns().end;
        if (colour_plain(band, is_covered, row, column, rgb)) continue;
        const std::size_t begin = tile.patches.size();
        if (is_covered)
          gather(band, row, column, tile);
        else
          tile.patches.push_back(ground_patch(row, column));
        for (std::size_t k = begin; k < tile.patches.size(); ++k) ask(row, column, tile.patches[k], tile);
        tile.pixels.push_back({row, rgb, tile.patches.size()});
      }
    }
    light_.receive_lamp(tile.lamp);
    light_.receive_sky(tile.sky);
    std::size_t next = 0;
    for (const Pixel& pixel : tile.pixels) {
      LinearColour sum{};
      for (; next < pixel.end; ++next) {
        const Patch& patch = tile.patches[next];
        const LinearColour colour = colour_of(patch, pixel.row, tile);
        for (std::size_t k = 0; k < 3; ++k)
          sum[k] += patch.passed * colour[k] + (patch.samples - patch.passed) * glass_[k];
      }
      for (std::size_t k = 0; k < 3; ++k) pixel.rgb[k] = to_byte_(sum[k] / (per_side_ * per_side_));
    }
  }

  /// Most pixels show nothing, or ground whose light the lattice knows.
  bool colour_plain(const VisibleBand& band, bool is_covered, Index row, Index column, std::uint8_t* rgb) const {
    const Index i0 = column * per_side_, j0 = row * per_side_;
    if (is_covered && (band.has_glass() || band.seen(i0, j0) == Seen::surface || !band.is_uniform(i0, j0)))
      return false;
    const auto& bytes = background_bytes_[static_cast<std::size_t>(row)];
    if (lattice_.is_open(column, row) || !shows_ground(row, column)) {
      std::copy(bytes.begin(), bytes.end(), rgb);
      return true;
    }
    const LightLattice::Received light = lattice_.on_ground(column, row);
    if (!light.knows_lamp || !light.knows_sky) return false;
    const double shade = ground_shade_of(static_cast<double>(light.lamp_diffuse + light.sky_diffuse));
    const LinearColour& colour = background_[static_cast<std::size_t>(row)];
    for (std::size_t k = 0; k < 3; ++k) rgb[k] = shade > 0.9995 ? bytes[k] : to_byte_(shade * colour[k]);
    return true;
  }

  double ground_shade_of(double diffuse) const {
    return 1 - ground_shade * (1 - std::min(1.0, diffuse / light_.open_ground()));
  }

  /// The middle of a pixel, in samples.
  double middle(Index pixel) const { return (pixel + 0.5) * per_side_; }
  bool shows_ground(Index row, Index column) const { return image_.shows_ground(middle(column), middle(row), 0.0F); }

  Patch ground_patch(Index row, Index column) const {
    Patch patch = begin_patch(Seen::ground, -1, middle(column), middle(row));
    patch.samples = patch.passed = per_side_ * per_side_;
    return patch;
  }

  void gather(const VisibleBand& band, Index row, Index column, Tile& tile) const {
    const Index i0 = column * per_side_, j0 = row * per_side_;
    const double x = middle(column), y = middle(row);
    const auto begin = [&](Index i, Index j, double at_x, double at_y) {
      const Seen what = band.seen(i, j);
      return begin_patch(what, what == Seen::surface ? band.id(i, j) : -1, at_x, at_y);
    };
    if (band.is_uniform(i0, j0)) {  // one has the colour of all
      Patch& patch = tile.patches.emplace_back(begin(i0, j0, x, y));
      patch.samples = per_side_ * per_side_;
      patch.passed = patch.samples * band.passed(i0, j0);
      if (patch.what == Seen::surface) patch.on_edges = patch.samples * image_.edge_cover(patch.id, x, y);
      return;
    }
    const std::size_t first = tile.patches.size();
    for (Index j = j0; j < j0 + per_side_; ++j)
      for (Index i = i0; i < i0 + per_side_; ++i) {
        const Seen what = band.seen(i, j);
        const Index id = what == Seen::surface ? band.id(i, j) : -1;
        std::size_t k = first;
        while (k < tile.patches.size() && !is_one(tile.patches[k], what, id)) ++k;
        if (k == tile.patches.size()) tile.patches.push_back(begin(i, j, i + 0.5, j + 0.5));
        Patch& patch = tile.patches[k];
        patch.samples += 1;
        patch.passed += band.passed(i, j);
        if (what == Seen::surface) patch.on_edges += image_.edge_cover(id, x, y);
      }
  }

  bool is_one(const Patch& patch, Seen what, Index id) const {
    if (patch.what != what) return false;
    if (what != Seen::surface || patch.id == id) return true;
    return image_.piece(patch.id).surface == image_.piece(id).surface &&
           image_.piece(patch.id).normal.dot(image_.piece(id).normal) > alike;
  }

  Patch begin_patch(Seen what, Index id, double x, double y) const {
    Patch patch;
    patch.what = what;
    patch.id = id;
    if (what == Seen::surface) {
      patch.point = image_.surface_point(id, x, y);
      patch.to_viewer = -image_.sight(x, y).normalized();
    } else if (what == Seen::ground) {
      patch.point.position = image_.ground_point(x, y);
      patch.point.normal = patch.point.true_normal = image_.vertical();
    }
    return patch;
  }

  void ask(Index row, Index column, Patch& patch, Tile& tile) const {
    if (patch.what == Seen::background) return;
    patch.received = patch.what == Seen::ground
                         ? lattice_.on_ground(column, row)
                         : lattice_.on_surface(column, row, patch.point, image_.piece(patch.id).surface);
    const auto ask_for = [&](LitPoints& points) {
      light_.ask(patch.point.position, patch.point.normal, patch.point.true_normal, points);
      return static_cast<int>(points.size()) - 1;
    };
    if (!patch.received.knows_lamp) patch.lamp = ask_for(tile.lamp);
    if (!patch.received.knows_sky) patch.sky = ask_for(tile.sky);
  }

  LinearColour colour_of(const Patch& patch, Index row, const Tile& tile) const {
    LinearColour colour = background_[static_cast<std::size_t>(row)];
    if (patch.what == Seen::background) return colour;
    const auto lamp = static_cast<std::size_t>(patch.lamp), sky = static_cast<std::size_t>(patch.sky);
    const auto diffuse = static_cast<double>((patch.lamp < 0 ? patch.received.lamp_diffuse : tile.lamp.diffuse[lamp]) +
                                             (patch.sky < 0 ? patch.received.sky_diffuse : tile.sky.diffuse[sky]));
    if (patch.what == Seen::ground) {
      for (double& c : colour) c *= ground_shade_of(diffuse);
      return colour;
    }
    colour = scene_.colour(image_.piece(patch.id), patch.point.barycentric);
    const double of_lamp = static_cast<double>(patch.lamp < 0 ? patch.received.lamp : tile.lamp.lamp[lamp]);
    const Vec3 half = (light_.lamp_direction() + patch.to_viewer).normalized();
    const double highlight = gloss * of_lamp * sharpened(std::max(0.0, patch.point.normal.dot(half)));
    const double edges = edge_opacity * patch.on_edges / patch.samples;
    for (std::size_t k = 0; k < 3; ++k) colour[k] = ((1 - edges) * colour[k] + edges * edge_[k]) * diffuse + highlight;
    return colour;
  }

  /// Its power 48.
  static double sharpened(double cosine) {
    const double c3 = cosine * cosine * cosine, c6 = c3 * c3, c12 = c6 * c6, c24 = c12 * c12;
    return c24 * c24;
  }

  const PictureScene& scene_;
  const PictureOptions& options_;
  const SrgbBytes& to_byte_ = SrgbBytes::table();
  VisibleImage image_;
  PictureLight light_;
  LightLattice lattice_;
  int per_side_;
  LinearColour edge_, glass_;
  std::vector<LinearColour> background_;  ///< of each row
  std::vector<std::array<std::uint8_t, 3>> background_bytes_;
};

}  // namespace

Picture render(std::span<const PictureSurface> surfaces, const Camera& camera, const PictureOptions& options) {
  check(options);
  const PictureScene scene(surfaces, options.crease);
  return Renderer(scene, camera, options).run();
}

}  // namespace pliant
