#include "pliant/render/picture.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <png.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>

#include "pliant/base/error.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/render/picture_raster.hpp"
#include "pliant/render/picture_text.hpp"

namespace pliant {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::array<int, 3> pixel(const Picture& picture, int x, int y) {
  const std::uint8_t* rgb = picture.rgb.data() + 3 * (y * picture.width + x);
  return {rgb[0], rgb[1], rgb[2]};
}

/// Looks along +y from (0, -10, 0) at a window of 2 x 2 at y = 0.
Camera front_camera() {
  return {.eye = Vec3(0, -10, 0),
          .target = Vec3::Zero(),
          .up = Vec3(0, 0, 1),
          .field_of_view = 2 * std::atan(0.1) * 180 / M_PI};
}

PictureOptions plain(int size) {
  return {.width = size, .height = size, .supersampling = 1, .ground = false, .shadows = false};
}

FlatTriangle flat(std::array<double, 3> x, std::array<double, 3> y, double nearness, Index id) {
  return {.x = x, .y = y, .slope_x = 0, .slope_y = 0, .offset = nearness, .id = id};
}

TEST(Raster, CoversExactlyTheSamplesInsideATriangle) {
  NearnessImage image(8, 8, 0.0F);
  image.ids.assign(64, -1);
  draw(flat({0, 8, 0}, {0, 0, 8}, 1, 5), 0, 8, image);
  for (int j = 0; j < 8; ++j) {
    for (int i = 0; i < 8; ++i) {
      // Sample centres lie on the long edge where i + j = 7; they count as inside.
      EXPECT_EQ(image.ids[static_cast<std::size_t>(8 * j + i)], i + j <= 7 ? 5 : -1) << i << " " << j;
    }
  }
}

TEST(Raster, LeavesNoGapBetweenNeighbours) {
  // Two triangles in either winding fill a square whose diagonal runs through awkward numbers.
  const double a = 0.1, b = 15.7;
  NearnessImage image(16, 16, 0.0F);
  draw(flat({a, b, b}, {a, a, b}, 1, 0), 0, 16, image);
  draw(flat({a, a, b}, {a, b, b}, 1, 1), 0, 16, image);
  for (float nearness : image.nearness) EXPECT_EQ(nearness, 1.0F);
}

TEST(Raster, KeepsTheNearestWhateverTheOrder) {
  for (bool near_first : {true, false}) {
    std::vector<FlatTriangle> triangles = {flat({-9, 40, -9}, {-9, -9, 40}, 2, 7),
                                           flat({-9, 40, -9}, {-9, -9, 40}, 1, 3)};
    if (!near_first) std::swap(triangles[0], triangles[1]);
    NearnessImage image(8, 8, 0.0F);
    image.ids.assign(64, -1);
    draw_all(triangles, image);
    for (Index id : image.ids) EXPECT_EQ(id, 7);
  }
}

TEST(Raster, IgnoresTrianglesWithoutArea) {
  NearnessImage image(4, 4, 0.0F);
  draw(flat({0, 2, 4}, {0, 2, 4}, 1, 0), 0, 4, image);
  draw(flat({nan, 2, 4}, {0, 2, 4}, 1, 0), 0, 4, image);
  for (float nearness : image.nearness) EXPECT_EQ(nearness, 0.0F);
}

TEST(Render, ShowsATriangleWhereItIs) {
  // The window spans [-1, 1]; the triangle covers its left half.
  const std::vector<Vec3> positions = {Vec3(-3, 0, -3), Vec3(0, 0, -3), Vec3(0, 0, 3), Vec3(-3, 0, 3)};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}};
  const PictureSurface surface{.positions = positions, .triangles = triangles, .colour = {1, 0, 0}};
  const Picture picture = render({&surface, 1}, front_camera(), plain(20));
  ASSERT_EQ(picture.rgb.size(), 3u * 20 * 20);
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) {
      const auto [r, g, b] = pixel(picture, x, y);
      EXPECT_EQ(r > 2 * g && r > 2 * b, x < 10) << x << " " << y;
    }
  }
}

TEST(Render, ShowsTheNearerSurface) {
  const std::vector<Vec3> near = {Vec3(-3, -1, -3), Vec3(3, -1, -3), Vec3(0, -1, 4)};
  const std::vector<Vec3> far = {Vec3(-3, 1, -3), Vec3(3, 1, -3), Vec3(0, 1, 4)};
  const std::vector<Triangle> triangles = {{0, 1, 2}};
  const PictureSurface blue{.positions = near, .triangles = triangles, .colour = {0, 0, 1}};
  const PictureSurface red{.positions = far, .triangles = triangles, .colour = {1, 0, 0}};
  for (const auto& surfaces : {std::vector{blue, red}, std::vector{red, blue}}) {
    const auto [r, g, b] = pixel(render(surfaces, front_camera(), plain(9)), 4, 4);
    EXPECT_GT(b, 2 * r);
  }
}

TEST(Render, GlassDimsWhatIsBehindItAndNothingBeforeIt) {
  const auto square = [](double y, double left) {
    return std::vector<Vec3>{Vec3(left, y, -3), Vec3(3, y, -3), Vec3(3, y, 3), Vec3(left, y, 3)};
  };
  const std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}};
  const std::vector<Vec3> wall = square(0, -3), before = square(-1, 0), behind = square(1, 0);
  const PictureSurface white{.positions = wall, .triangles = triangles, .colour = {1, 1, 1}};
  const PictureSurface pane{.positions = before, .triangles = triangles, .glass = true};
  const PictureSurface hidden{.positions = behind, .triangles = triangles, .glass = true};
  const auto levels = [&](const std::vector<PictureSurface>& surfaces) {
    PictureOptions options = plain(20);
    options.shadows = true;  // glass throws none
    const Picture picture = render(surfaces, front_camera(), options);
    return std::array{pixel(picture, 5, 10)[0], pixel(picture, 15, 10)[0]};
  };
  const auto bare = levels({white}), through = levels({pane, white}), twice = levels({pane, white, pane}),
             unseen = levels({hidden, white});
  EXPECT_EQ(unseen, bare);
  EXPECT_EQ(through[0], bare[0]);
  EXPECT_LT(through[1], bare[1] - 5);
  EXPECT_LT(twice[1], through[1] - 4);
}

TEST(Render, ColoursByValue) {
  const std::vector<Vec3> positions = {Vec3(-1, 0, -3), Vec3(1, 0, -3), Vec3(1, 0, 3), Vec3(-1, 0, 3)};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}};
  const std::vector<double> values = {0, 1, 1, 0};
  const PictureSurface surface{.positions = positions, .triangles = triangles, .colour_values = values};
  const Picture picture = render({&surface, 1}, front_camera(), plain(21));
  const auto left = pixel(picture, 1, 10);
  const auto right = pixel(picture, 19, 10);
  EXPECT_GT(left[2], left[1]);    // indigo
  EXPECT_GT(right[1], right[2]);  // yellow
  EXPECT_GT(right[0], right[2]);
}

TEST(Render, HidesWhatIsBehindTheEyeAndCutsWhatReachesThere) {
  const std::vector<Vec3> positions = {Vec3(-50, -40, -1), Vec3(50, -40, -1), Vec3(0, 60, -1)};
  const std::vector<Triangle> triangles = {{0, 1, 2}};
  const PictureSurface floor{.positions = positions, .triangles = triangles, .colour = {1, 0, 0}};
  const Picture picture = render({&floor, 1}, front_camera(), plain(21));
  const auto below = pixel(picture, 10, 20);
  const auto above = pixel(picture, 10, 2);
  EXPECT_GT(below[0], 2 * below[1]);
  EXPECT_LT(above[0], 2 * above[1]);
}

TEST(Render, DrawsMeshEdgesOnlyWhereAsked) {
  const std::vector<Vec3> positions = {Vec3(-3, 0, -3), Vec3(3, 0, -3), Vec3(3, 0, 3), Vec3(-3, 0, 3)};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}};
  PictureSurface surface{.positions = positions, .triangles = triangles, .colour = {1, 1, 1}};
  PictureOptions options = plain(21);
  options.edge_width = 1;
  const auto with_diagonal = pixel(render({&surface, 1}, front_camera(), options), 10, 10);
  const std::vector<std::uint8_t> hidden = {0b011, 0b110};
  surface.edge_bits = hidden;
  const auto without = pixel(render({&surface, 1}, front_camera(), options), 10, 10);
  EXPECT_LT(with_diagonal[0] + 50, without[0]);
}

TEST(Render, DrawsEveryEdgeOfARegularMeshAlikeWhereLinesAreThinnerThanPixels) {
  // Strips whose borders fall anywhere among the samples.
  std::vector<Vec3> positions;
  std::vector<Triangle> triangles;
  constexpr int kStrips = 12;
  for (Index k = 0; k <= kStrips; ++k)
    for (const double z : {-5, 5}) positions.emplace_back(-2 + 4.0 * k / kStrips, 0, z);
  for (Index k = 0; k < kStrips; ++k) {
    triangles.push_back({2 * k, 2 * k + 2, 2 * k + 3});
    triangles.push_back({2 * k, 2 * k + 3, 2 * k + 1});
  }
  std::vector<std::uint8_t> upright(triangles.size());
  for (std::size_t t = 0; t < upright.size(); ++t) upright[t] = t % 2 == 0 ? 0b010 : 0b100;
  const PictureSurface surface{
      .positions = positions, .triangles = triangles, .colour = {1, 1, 1}, .edge_bits = upright};
  PictureOptions options = plain(101);
  options.supersampling = 2;
  const Camera camera{.eye = Vec3(0, -10, 0), .target = Vec3::Zero(), .up = Vec3(0, 0, 1), .field_of_view = 20};
  const Picture without = render({&surface, 1}, camera, options);
  options.edge_width = 0.25;
  const Picture with = render({&surface, 1}, camera, options);
  const double scale = 101 / (2 * std::tan(10 * M_PI / 180) * 10);  // pixels a metre
  std::vector<double> ink;                                          // of every inner line within the picture
  for (int k = 1; k < kStrips; ++k) {
    const double place = 50.5 + scale * (-2 + 4.0 * k / kStrips);
    if (place < 4 || place > 97) continue;
    ink.push_back(0);
    for (int i = static_cast<int>(place) - 2; i <= static_cast<int>(place) + 2; ++i)
      ink.back() += pixel(without, i, 50)[0] - pixel(with, i, 50)[0];
  }
  ASSERT_GE(ink.size(), 8u);
  const auto [least, most] = std::minmax_element(ink.begin(), ink.end());
  EXPECT_GT(*least, 10);
  EXPECT_LT(*most, 1.25 * *least);
}

TEST(Render, CastsAShadowOfTheSizeOfAHoveringPlateOnTheGround) {
  const std::vector<Vec3> positions = {Vec3(-1, -1, 2), Vec3(1, -1, 2), Vec3(1, 1, 2), Vec3(-1, 1, 2)};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {0, 2, 3}};
  const PictureSurface plate{.positions = positions, .triangles = triangles, .colour = {1, 0, 0}};
  PictureOptions options{.width = 120, .height = 120, .supersampling = 2, .ground_height = 0};
  const Camera camera{.eye = Vec3(0, -20, 20), .target = Vec3(0, 0, 1), .up = Vec3(0, 0, 1), .field_of_view = 20};
  const Picture with = render({&plate, 1}, camera, options);
  options.ground = false;
  const Picture without = render({&plate, 1}, camera, options);
  int covered = 0, darker = 0, lighter = 0;
  for (std::size_t i = 0; i < with.rgb.size(); i += 3) {
    covered += without.rgb[i] > 2 * without.rgb[i + 1];
    darker += with.rgb[i] + 25 < without.rgb[i];
    lighter += with.rgb[i] > without.rgb[i] + 2;
  }
  // The plate is parallel to the ground, and nearer by a tenth; a part of its shadow is hidden behind it.
  const double scale = 120 / (2 * std::tan(10 * M_PI / 180) * (Vec3(0, 0, 2) - camera.eye).norm());  // pixels a metre
  EXPECT_NEAR(covered, 4 * scale * scale * std::sin(M_PI / 4), 60);
  EXPECT_GT(darker, covered / 3);
  EXPECT_LT(darker, covered);
  EXPECT_EQ(lighter, 0);
  EXPECT_EQ(pixel(with, 2, 2), pixel(without, 2, 2));  // far from it, the ground is not seen
}

TEST(Render, GivesTheSameBytesOnOneThreadAndOnMany) {
  const TetMesh mesh(box({.size = Vec3(2, 1, 1), .cells = {6, 3, 3}}));
  const PictureSurface surface{.positions = mesh.vertices(), .triangles = mesh.surface()};
  const PictureOptions options{.width = 160, .height = 90, .edge_width = 0.7};
  const Camera camera = fit_camera(mesh.vertices());
  const auto on = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return render({&surface, 1}, camera, options).rgb;
  };
  EXPECT_EQ(on(1), on(4));
}

TEST(Render, ShowsTheBackgroundWhenThereIsNothing) {
  const Picture picture = render({}, Camera{}, {.width = 16, .height = 9});
  EXPECT_GT(pixel(picture, 8, 8)[0], 200);
  const PictureSurface empty;
  EXPECT_EQ(render({&empty, 1}, fit_camera({}), {.width = 16, .height = 9}).rgb.size(), 3u * 16 * 9);
}

TEST(Render, LeavesOutTrianglesThatAreNotFinite) {
  const std::vector<Vec3> positions = {Vec3(-3, 0, -3), Vec3(0, 0, -3),    Vec3(-3, 0, 6),
                                       Vec3(nan, 0, 0), Vec3(1e200, 0, 0), Vec3(3, 0, -3)};
  const std::vector<Triangle> triangles = {{0, 1, 2}, {1, 5, 3}, {1, 5, 4}};
  const std::vector<double> values = {nan, nan, nan, nan, nan, nan};
  const PictureSurface surface{.positions = positions, .triangles = triangles, .colour_values = values};
  PictureOptions options = plain(20);
  options.shadows = options.ground = true;
  const Picture picture = render({&surface, 1}, front_camera(), options);
  const PictureSurface good{
      .positions = positions, .triangles = std::span(triangles).first(1), .colour_values = values};
  EXPECT_EQ(picture.rgb, render({&good, 1}, front_camera(), options).rgb);
}

TEST(Render, RefusesSizesItCannotDraw) {
  EXPECT_THROW(render({}, Camera{}, {.width = 0}), InputError);
  EXPECT_THROW(render({}, Camera{}, {.width = 100000}), InputError);
  EXPECT_THROW(render({}, Camera{}, {.supersampling = 4}), InputError);
}

TEST(FitCamera, TouchesTheMarginsAndSeesEverything) {
  const MeshData data = box({.size = Vec3(5, 1, 2), .cells = {3, 2, 2}});
  for (const Vec3& view : {Vec3(-0.5, 0.8, -0.3), Vec3(0, 1, 0), Vec3(0, 0, -1), Vec3(1, 1, 1)}) {
    for (double aspect : {0.5, 1.0, 2.5}) {
      const CameraFit fit{.view = view, .aspect = aspect, .margin = 0.1};
      const Camera camera = fit_camera(data.vertices, fit);
      const Vec3 forward = (camera.target - camera.eye).normalized();
      EXPECT_NEAR((forward - view.normalized()).norm(), 0, 1e-12);
      Vec3 right = forward.cross(camera.up);
      if (right.norm() < 1e-9) right = forward.cross(Vec3(1, 0, 0));
      right.normalize();
      const Vec3 up = right.cross(forward);
      const double tangent = std::tan(fit.field_of_view * M_PI / 360);
      double widest = 0;
      for (const Vec3& p : data.vertices) {
        const Vec3 q = p - camera.eye;
        const double depth = q.dot(forward);
        ASSERT_GT(depth, 0);
        widest = std::max(
            {widest, std::abs(q.dot(right)) / (depth * tangent * aspect), std::abs(q.dot(up)) / (depth * tangent)});
      }
      EXPECT_NEAR(widest, 0.8, 1e-12);
    }
  }
}

TEST(FitCamera, CopesWithNoPointsOnePointAndPointsThatAreNotFinite) {
  EXPECT_TRUE(fit_camera({}).eye.allFinite());
  const std::vector<Vec3> one = {Vec3(1, 2, 3), Vec3(nan, 0, 0)};
  const Camera camera = fit_camera(one);
  EXPECT_TRUE(camera.eye.allFinite());
  EXPECT_GT((camera.target - camera.eye).norm(), 0);
}

TEST(ColourMaps, RiseEvenlyInLightness) {
  for (ColourMap map : {ColourMap::lagoon, ColourMap::ember}) {
    double last = -1;
    for (int i = 0; i <= 100; ++i) {
      const LinearColour c = to_linear(map_colour(map, i / 100.0));
      const double luminance = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
      EXPECT_GT(luminance, last);
      last = luminance;
    }
  }
}

TEST(ColourMaps, ClampValuesAndShowNanAsGrey) {
  const auto same = [](const Colour& a, const Colour& b) {
    return a.red == b.red && a.green == b.green && a.blue == b.blue;
  };
  EXPECT_TRUE(same(map_colour(ColourMap::lagoon, -3), map_colour(ColourMap::lagoon, 0)));
  EXPECT_TRUE(same(map_colour(ColourMap::lagoon, 1e9), map_colour(ColourMap::lagoon, 1)));
  EXPECT_TRUE(same(map_colour(ColourMap::ember, nan), {0.5, 0.5, 0.5}));
}

TEST(Colour, SurvivesTheWayToLightAndBack) {
  for (int i = 0; i <= 255; ++i) {
    const double c = i / 255.0;
    EXPECT_NEAR(from_linear(to_linear({c, c, c})).green, c, 1e-9);
  }
}

/// How much ink there is in these rows of a white picture with this text at its upper left: 1 for a black pixel.
double ink_of(const char* text, int scale, int first_row, int end_row) {
  Picture picture{.width = 40, .height = 40, .rgb = std::vector<std::uint8_t>(std::size_t{3} * 40 * 40, 255)};
  draw_text(picture, 0, 0, text, scale, {0, 0, 0});
  double ink = 0;
  for (int y = first_row; y < end_row; ++y)
    for (int x = 0; x < picture.width; ++x) ink += 1 - pixel(picture, x, y)[0] / 255.0;
  return ink;
}

TEST(Text, IsOfStrokesThatGrowWithTheScale) {
  for (const char* text : {"l", "o", "8", "x", "g"}) {
    const double small = ink_of(text, 1, 0, 40), large = ink_of(text, 4, 0, 40);
    EXPECT_NEAR(large, 16 * small, 0.25 * large) << text;
  }
  EXPECT_NEAR(ink_of("_", 4, 0, 40), 4 * (5 * 4 - (4 - M_PI)), 8) << "five dots as one stroke with round ends";
}

TEST(Text, HangsTailsBelowTheLineAndStandsOnItOtherwise) {
  for (int scale : {1, 2, 3}) {
    for (const char* text : {"g", "p", "q", "y", "j", ","})
      EXPECT_GT(ink_of(text, scale, 7 * scale, 40), scale) << text;
    for (const char* text : {"a", "b", "E", "8"}) EXPECT_LT(ink_of(text, scale, 7 * scale + 1, 40), 0.01) << text;
  }
}

TEST(Text, LeavesOutWhatIsOutsideThePicture) {
  Picture picture{.width = 8, .height = 8, .rgb = std::vector<std::uint8_t>(std::size_t{3} * 8 * 8, 255)};
  draw_text(picture, -20, -3, "outside and longer than the picture", 3, {0, 0, 0});
  EXPECT_EQ(picture.rgb.size(), std::size_t{3} * 8 * 8);
}

TEST(SideBySide, PlacesPicturesInRowsWithGaps) {
  const Picture red{2, 1, {255, 0, 0, 255, 0, 0}};
  const Picture green{1, 1, {0, 255, 0}};
  const std::vector<Picture> pictures = {red, green, red};
  const Picture strip = side_by_side(pictures, 2, 1);
  ASSERT_EQ(strip.width, 2 * 2 + 3);
  ASSERT_EQ(strip.height, 2 * 1 + 3);
  using Rgb = std::array<int, 3>;
  EXPECT_EQ(pixel(strip, 0, 0), (Rgb{255, 255, 255}));
  EXPECT_EQ(pixel(strip, 1, 1), (Rgb{255, 0, 0}));
  EXPECT_EQ(pixel(strip, 2, 1), (Rgb{255, 0, 0}));
  EXPECT_EQ(pixel(strip, 3, 1), (Rgb{255, 255, 255}));
  EXPECT_EQ(pixel(strip, 4, 1), (Rgb{0, 255, 0}));
  EXPECT_EQ(pixel(strip, 5, 1), (Rgb{255, 255, 255}));
  EXPECT_EQ(pixel(strip, 2, 3), (Rgb{255, 0, 0}));
}

TEST(Png, ReadsBackWhatWasWritten) {
  Picture picture{7, 5, {}};
  for (int i = 0; i < 3 * 7 * 5; ++i) picture.rgb.push_back(static_cast<std::uint8_t>(i * 37));
  const auto path = std::filesystem::path(testing::TempDir()) / "pliant-picture-test.png";
  write_png(path, picture);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0);
  EXPECT_EQ(image.width, 7u);
  EXPECT_EQ(image.height, 5u);
  image.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> rgb(PNG_IMAGE_SIZE(image));
  ASSERT_NE(png_image_finish_read(&image, nullptr, rgb.data(), 0, nullptr), 0);
  EXPECT_EQ(rgb, picture.rgb);
}

TEST(Png, SaysWhyItCannotBeWritten) {
  const Picture picture{1, 1, {1, 2, 3}};
  EXPECT_THROW(write_png(std::filesystem::path(testing::TempDir()) / "no" / "such" / "folder.png", picture),
               std::system_error);
  EXPECT_THROW(write_png(std::filesystem::path(testing::TempDir()) / "x.png", Picture{}), std::runtime_error);
}

}  // namespace
}  // namespace pliant
