// What is written is read back: every format, every kind of content.

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <random>

#include "mesh/mesh_test_support.hpp"
#include "pliant/base/file_content.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/read_mesh.hpp"
#include "pliant/mesh/write_mesh.hpp"

namespace pliant {
namespace {

using test::contains;
using test::input_error;
using test::write_file;

/// A ball with coordinates that use all their bits, labels in no order, names, sets and fields.
MeshData rich_mesh() {
  MeshData data = sphere({.centre = Vec3(1.0 / 3, -1e-3, 1e4), .radius = 0.7, .cells = 4});
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> number(-1, 1);
  for (Vec3& x : data.vertices) x += 1e-3 * Vec3(number(random), number(random), number(random));
  const std::vector<Index> labels = {7, 3, 0, -5, 2147483647};
  for (std::size_t t = 0; t < data.tets.size(); ++t) data.regions.push_back(labels[random() % labels.size()]);
  data.region_names = {{7, "gel pad"}, {3, "100% <bone> & \"marrow\""}};
  ElementField stiffness{1, {}};
  ElementField fibre{3, {}};
  ElementField tensor{9, {}};
  for (std::size_t t = 0; t < data.tets.size(); ++t) {
    stiffness.values.push_back(number(random) * 1e-300);
    for (int k = 0; k < 3; ++k) fibre.values.push_back(number(random));
    for (int k = 0; k < 9; ++k) tensor.values.push_back(1 / number(random));
  }
  data.element_fields = {{"young", stiffness}, {"fibre direction", fibre}, {"tensor", tensor}};
  data.sets["an empty set"] = {};
  return data;
}

void expect_same_bits(std::span<const Vec3> a, std::span<const Vec3> b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(a[i][k]), std::bit_cast<std::uint64_t>(b[i][k])) << i;
    }
  }
}

std::filesystem::path file_for(const FormatInfo& format) { return write_file("mesh" + format.extension, ""); }

class Format : public testing::TestWithParam<FormatInfo> {};
INSTANTIATE_TEST_SUITE_P(Written, Format, testing::ValuesIn(mesh_formats()), [](const auto& format) {
  std::string name = format.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(Format, KeepsCountsOrderAndEveryBit) {
  const TetMesh mesh(rich_mesh());
  const auto path = file_for(GetParam());
  write_mesh(path, mesh, GetParam().name);
  const TetMesh read = read_mesh(path);
  expect_same_bits(read.vertices(), mesh.vertices());
  EXPECT_TRUE(std::ranges::equal(read.tets(), mesh.tets()));
  EXPECT_TRUE(std::ranges::equal(read.regions(), mesh.regions()));
  EXPECT_TRUE(read.notes().empty() || GetParam().name.starts_with("gmsh")) << read.notes().front();
}

TEST_P(Format, KeepsNamesSetsAndFieldsIfItCanCarryThem) {
  const std::string& name = GetParam().name;
  if (name.starts_with("medit") || name == "tetgen") GTEST_SKIP() << name << " carries regions only";
  MeshData data = rich_mesh();
  if (name.starts_with("gmsh")) {
    data.region_names[3] = "100% <bone> & marrow";  // a name in quotes cannot hold them
    data.sets.erase("an empty set");                // a group of no elements is none
  }
  const TetMesh mesh(data);
  const auto path = file_for(GetParam());
  write_mesh(path, mesh, name);
  const TetMesh read = read_mesh(path);
  EXPECT_EQ(read.region_names(), mesh.region_names());
  for (const auto& [set, members] : mesh.sets()) {
    ASSERT_TRUE(read.sets().contains(set)) << set;
    EXPECT_EQ(read.sets().at(set), members) << set;
  }
  EXPECT_EQ(read.element_fields(), mesh.element_fields());
  // Once more, from what was read: nothing grows.
  write_mesh(path, read, name);
  const TetMesh again = read_mesh(path);
  EXPECT_EQ(again.sets(), read.sets());
  EXPECT_EQ(again.region_names(), read.region_names());
}

TEST_P(Format, WritesAPlainMesh) {
  const TetMesh mesh(box({.cells = {2, 1, 1}}));
  const auto path = file_for(GetParam());
  write_mesh(path, mesh, GetParam().name);
  expect_same_bits(read_mesh(path).vertices(), mesh.vertices());
}

TEST_P(Format, SurvivesAnyByteChangedAndAnyCut) {
  MeshData data = test::unit_tet();
  data.vertices.push_back(Vec3(1, 1, 1));
  data.tets.push_back({1, 2, 3, 4});
  data.regions = {1, 2};
  data.region_names[2] = "gel";
  data.sets["base"] = {0, 1};
  data.element_fields["young"] = {1, {0.5, 3}};
  const auto path = file_for(GetParam());
  write_mesh(path, data, GetParam().name);
  const std::string whole(FileContent(path).bytes());
  const bool tetgen = GetParam().name == "tetgen";
  const auto try_read = [&](const std::string& text) {
    try {
      if (tetgen) {
        std::ofstream(path, std::ios::binary) << text;
        TetMesh mesh = read_mesh(path);
      } else {
        TetMesh mesh(parse_mesh(text, "m"));
      }
    } catch (const InputError&) {
    }
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    try_read(whole.substr(0, at));
    for (char c : {'\0', ' ', '9', '-', 'x', '"', '\n', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = c;
      try_read(damaged);
    }
  }
}

TEST(WriteMesh, ChoosesTheFormatByTheName) {
  const TetMesh mesh(box({}));
  for (const FormatInfo& format : mesh_formats()) {
    const auto path = write_file("mesh" + format.extension, "");
    write_mesh(path, mesh);
    EXPECT_EQ(read_mesh(path).tets().size(), 5u) << format.extension;
  }
  EXPECT_TRUE(
      contains(input_error([&] { write_mesh("mesh.xyz", mesh); }), "mesh.xyz: no format has the ending '.xyz'"));
  EXPECT_TRUE(contains(input_error([&] { write_mesh("m", mesh, "gmsh-42"); }), "there is no format 'gmsh-42'"));
  EXPECT_THROW(write_mesh("/no/such/folder/mesh.vtu", mesh), std::system_error);
}

class SurfaceFormat : public testing::TestWithParam<FormatInfo> {};
INSTANTIATE_TEST_SUITE_P(Written, SurfaceFormat, testing::ValuesIn(surface_formats()), [](const auto& format) {
  std::string name = format.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(SurfaceFormat, KeepsCountsOrderAndEveryBit) {
  const TetMesh mesh(rich_mesh());
  TriangleMesh surface = surface_of(mesh);
  const std::string& name = GetParam().name;
  if (name == "stl") {
    for (Vec3& x : surface.vertices) {
      for (double& c : x) {
        const volatile float rounded = static_cast<float>(c);
        c = static_cast<double>(rounded);
      }
    }
  }
  const auto path = file_for(GetParam());
  write_surface(path, surface, name);
  TriangleMesh read = read_surface(path);
  ASSERT_EQ(read.triangles.size(), surface.triangles.size());
  EXPECT_EQ(read.vertices.size(), surface.vertices.size());
  EXPECT_TRUE(read.notes.empty());
  if (!name.starts_with("stl")) {
    EXPECT_EQ(read.triangles, surface.triangles);
  }
  // STL numbers vertices as they appear: compare corner by corner.
  std::vector<Vec3> written;
  std::vector<Vec3> found;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (Index v : surface.triangles[t]) written.push_back(surface.vertices[static_cast<std::size_t>(v)]);
    for (Index v : read.triangles[t]) found.push_back(read.vertices[static_cast<std::size_t>(v)]);
  }
  expect_same_bits(found, written);
}

TEST_P(SurfaceFormat, SurvivesAnyByteChangedAndAnyCut) {
  const auto path = file_for(GetParam());
  write_surface(path, triangle_grid({.cells = {1, 1}}), GetParam().name);
  const std::string whole(FileContent(path).bytes());
  const auto try_read = [&](const std::string& text) {
    try {
      parse_surface(text, "m" + GetParam().extension);
    } catch (const InputError&) {
    }
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    try_read(whole.substr(0, at));
    for (char c : {'\0', ' ', '9', '-', 'x', '/', '\n', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = c;
      try_read(damaged);
    }
  }
}

}  // namespace
}  // namespace pliant
