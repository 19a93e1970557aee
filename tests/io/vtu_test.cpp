#include "pliant/mesh/formats/vtu_writer.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include "pliant/base/atomic_file.hpp"
#include "pliant/io/frames.hpp"
#include "support/text_file.hpp"

namespace pliant {
namespace {

std::filesystem::path folder() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const auto path = std::filesystem::path(testing::TempDir()) / (std::string("pliant-vtu-") + info->name());
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

std::size_t files_in(const std::filesystem::path& path) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
}

/// Takes an array out of a file the way a reader does: by its name and offset, block by block.
template <class Value>
std::vector<Value> array(const std::string& file, const std::string& name) {
  const auto tag = file.find("Name=\"" + name + "\"");
  EXPECT_NE(tag, std::string::npos) << name;
  const auto offset_at = file.find("offset=\"", tag) + 8;
  const char* data = file.data() + file.find("encoding=\"raw\">\n_") + 17 + std::stoul(file.substr(offset_at));
  const auto number = [&](std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, data + 8 * i, 8);
    return value;
  };
  const std::uint64_t blocks = number(0);
  const char* block = data + 8 * (3 + blocks);
  std::string bytes;
  for (std::uint64_t b = 0; b < blocks; ++b) {
    uLongf size = b + 1 == blocks && number(2) != 0 ? number(2) : number(1);
    std::string plain(size, '\0');
    EXPECT_EQ(
        uncompress(reinterpret_cast<Bytef*>(plain.data()), &size, reinterpret_cast<const Bytef*>(block), number(3 + b)),
        Z_OK);
    EXPECT_EQ(size, plain.size());
    bytes += plain;
    block += number(3 + b);
  }
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(Vtu, KeepsEveryBitOfSeveralBodiesOfDifferentOrder) {
  std::vector<double> points;
  for (int i = 0; i < 3 * 34; ++i) points.push_back(1.0 / (i + 1) - 0.3);
  std::vector<Index> linear = {0, 1, 2, 3, 3, 2, 1, 0};
  std::vector<Index> quadratic(10);
  std::vector<Index> cubic(20);
  for (Index i = 0; i < 10; ++i) quadratic[static_cast<std::size_t>(i)] = 4 + i;
  for (Index i = 0; i < 20; ++i) cubic[static_cast<std::size_t>(i)] = 14 + i;
  const std::vector<VtuCells> cells = {{linear, 4}, {quadratic, 10}, {cubic, 20}};
  std::vector<double> stress = {1e-300, 0.1, -0.0, 5};
  const std::vector<VtuField> point_fields = {{"velocity", 3, points}};
  const std::vector<VtuField> cell_fields = {{"stress <Pa>", 1, stress}};
  const auto path = folder() / "frame.vtu";
  write_vtu(path, {.points = points, .cells = cells, .point_fields = point_fields, .cell_fields = cell_fields});

  const std::string file = file_content(path);
  EXPECT_NE(file.find("NumberOfPoints=\"34\" NumberOfCells=\"4\""), std::string::npos);
  EXPECT_EQ(array<double>(file, "Points"), points);
  EXPECT_EQ(array<double>(file, "velocity"), points);
  EXPECT_EQ(array<double>(file, "stress &lt;Pa&gt;"), stress);
  EXPECT_EQ(array<std::int64_t>(file, "offsets"), (std::vector<std::int64_t>{4, 8, 18, 38}));
  EXPECT_EQ(array<std::uint8_t>(file, "types"), (std::vector<std::uint8_t>{10, 10, 24, 71}));
  const auto connectivity = array<Index>(file, "connectivity");
  ASSERT_EQ(connectivity.size(), 38u);
  EXPECT_EQ(connectivity[4], 3);
  EXPECT_EQ(connectivity[8], 4);
  EXPECT_EQ(connectivity[37], 33);
}

TEST(Vtu, CutsLargeArraysIntoBlocks) {
  std::vector<double> points(3 * 40000);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = std::sin(static_cast<double>(i));
  const auto path = folder() / "frame.vtu";
  write_vtu(path, {points, {}, {}, {}});
  EXPECT_EQ(array<double>(file_content(path), "Points"), points);
}

TEST(Vtu, WritesTheSameBytesAgain) {
  std::vector<double> points(3 * 40000, 0.25);
  const auto path = folder();
  write_vtu(path / "a.vtu", {points, {}, {}, {}});
  write_vtu(path / "b.vtu", {points, {}, {}, {}});
  EXPECT_EQ(file_content(path / "a.vtu"), file_content(path / "b.vtu"));
}

TEST(Vtu, WritesAnEmptyGrid) {
  const auto path = folder() / "empty.vtu";
  write_vtu(path, {});
  const std::string file = file_content(path);
  EXPECT_NE(file.find("NumberOfPoints=\"0\" NumberOfCells=\"0\""), std::string::npos);
  EXPECT_TRUE(array<double>(file, "Points").empty());
}

TEST(Pvd, ListsFramesWithTheirTimes) {
  const auto path = folder() / "result.pvd";
  const std::vector<PvdFrame> frames = {{0, "frames/0.vtu"}, {0.1, "frames/a&b.vtu"}};
  write_pvd(path, frames);
  const std::string file = file_content(path);
  EXPECT_NE(file.find("<DataSet timestep=\"0\" part=\"0\" file=\"frames/0.vtu\"/>"), std::string::npos);
  EXPECT_NE(file.find("<DataSet timestep=\"0.1\" part=\"0\" file=\"frames/a&amp;b.vtu\"/>"), std::string::npos);
}

TEST(AtomicFile, ReplacesTheOldContentAndLeavesNothingElse) {
  const auto path = folder();
  write_atomically(path / "f", "a long first content");
  write_atomically(path / "f", "second");
  EXPECT_EQ(file_content(path / "f"), "second");
  EXPECT_EQ(files_in(path), 1u);
}

TEST(AtomicFile, SaysWhichFileAndWhyWhenTheFolderIsMissing) {
  const auto path = folder() / "missing" / "f.vtu";
  try {
    write_atomically(path, "x");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    EXPECT_NE(std::string(error.what()).find(path.string() + ": cannot be written"), std::string::npos);
  }
}

TEST(AtomicFile, KeepsTheOldContentWhenThereIsNoRoomForTheNew) {
  // A limit on the size of files stands for a full disk: write fails half-way, in both cases.
  const auto path = folder();
  write_atomically(path / "f", "old");
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  rlimit limit = old_limit;
  limit.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROW(write_atomically(path / "f", std::string(5000, 'x')), std::system_error);
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(file_content(path / "f"), "old");
  EXPECT_EQ(files_in(path), 1u);
}

TEST(FrameWriter, WritesZeroForWhatIsNotFiniteAndCountsIt) {
  const auto path = folder();
  const auto model = build_model(parse_scene(R"(
simulation = {dt = 0.01, frames = 1}
[[body]]
box = {size = [1, 1, 1], cells = [2, 1, 1]}
material = "neo-hookean"
young = 1e5
poisson = 0.3
)",
                                             "frame.toml"));
  FrameWriter frames(path, model, {FrameField::displacement, FrameField::von_mises, FrameField::stretch});
  State state = model->rest_state();
  frames.write(0, state);
  EXPECT_EQ(frames.not_finite(), 0);
  // Squeezed flat where x > 1/2, to no volume, over which the Cauchy stress is a force.
  for (Index i = 0; i < model->nodes(); ++i)
    if (node(state.x, i).x() > 0.6) node(state.x, i).x() = 0.5;
  frames.write(1, state);
  EXPECT_GT(frames.not_finite(), 0);
  EXPECT_LT(frames.not_finite(), static_cast<std::int64_t>(model->bodies()[0].mesh->tets().size()));
  const std::vector<double> stress = array<double>(file_content(path / "frames" / "frame_000001.vtu"), "von_mises");
  EXPECT_EQ(stress.size(), model->bodies()[0].mesh->tets().size());
  for (double value : stress) EXPECT_TRUE(std::isfinite(value));
  EXPECT_GE(std::count(stress.begin(), stress.end(), 0.0), frames.not_finite());
}

}  // namespace
}  // namespace pliant
