#include "pliant/mesh/read_mesh.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "mesh/mesh_test_support.hpp"
#include "pliant/mesh/generators.hpp"
#include "pliant/mesh/quality.hpp"

namespace pliant {
namespace {

using test::contains;
using test::input_error;
using test::write_file;

/// Two tets on a common face, one vertex that none uses.
const std::string medit =
    "MeshVersionFormatted 1\n"
    "# written by hand\n"
    "Dimension 3\n"
    "Vertices\n"
    "6\n"
    "0 0 0 0\n"
    "1 0 0 0\n"
    "0 1 0 0\n"
    "0 0 1e0 0\n"
    "1. 1 +1 7\n"
    "-5 -5 -5 0\n"
    "Triangles 1\n"
    "1 2 3 9\n"
    "RequiredVertices\n"
    "2\n"
    "1\n"
    "2\n"
    "Tetrahedra\n"
    "2\n"
    "1 2 3 4 11\n"
    "2 3 4 5 12\n"
    "Edges\n"
    "0\n"
    " End\n";

const std::string gmsh2 =
    "$MeshFormat\n"
    "2.2 0 8\n"
    "$EndMeshFormat\n"
    "$PhysicalNames\n"
    "3\n"
    "2 5 \"the floor\"\n"
    "3 7 \"body\"\n"
    "1 5 \"unused\"\n"
    "$EndPhysicalNames\n"
    "$Nodes\n"
    "5\n"
    "10 0 0 0\n"
    "20 1 0 0\n"
    "30 0 1 0\n"
    "4000000 0 0 1\n"
    "50 1 1 1\n"
    "$EndNodes\n"
    "$Elements\n"
    "4\n"
    "1 15 2 0 1 10\n"
    "2 2 2 5 1 10 20 30\n"
    "3 4 2 7 1 10 20 30 4000000\n"
    "4 4 2 0 3 20 30 4000000 50\n"
    "$EndElements\n";

const std::string gmsh4 =
    "$MeshFormat\n"
    "4.1 0 8\n"
    "$EndMeshFormat\n"
    "$PhysicalNames\n"
    "2\n"
    "2 5 \"floor\"\n"
    "3 7 \"body\"\n"
    "$EndPhysicalNames\n"
    "$Entities\n"
    "1 0 1 2\n"
    "1 0 0 0 0\n"
    "4 0 0 0 1 1 0 1 -5 1 -3\n"
    "8 0 0 0 1 1 1 2 7 6 0\n"
    "9 0 0 0 1 1 1 0 1 4\n"
    "$EndEntities\n"
    "$Nodes\n"
    "2 5 1 5\n"
    "2 4 1 3\n"
    "1\n"
    "2\n"
    "3\n"
    "0 0 0 0.1 0.2\n"
    "1 0 0 0.1 0.2\n"
    "0 1 0 0.1 0.2\n"
    "3 8 0 2\n"
    "5\n"
    "4\n"
    "1 1 1\n"
    "0 0 1\n"
    "$EndNodes\n"
    "$Elements\n"
    "3 3 1 3\n"
    "2 4 2 1\n"
    "1 1 2 3\n"
    "3 8 4 1\n"
    "2 1 2 3 4\n"
    "3 9 4 1\n"
    "3 2 3 4 5\n"
    "$EndElements\n"
    "$Surface\n"
    "1\n"
    "1 2 3\n"
    "$EndSurface\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& content) {
  const std::string error = input_error([&] { parse_mesh(content, "m"); });
  // Every message begins with the file.
  EXPECT_EQ(error.rfind("m:", 0), 0u) << error;
  return error;
}

TEST(ReadMesh, ReadsMedit) {
  const MeshData data = read_mesh_data(write_file("a.mesh", medit));
  ASSERT_EQ(data.vertices.size(), 6u);
  EXPECT_EQ(data.vertices[4], Vec3(1, 1, 1));
  EXPECT_EQ(data.tets, (std::vector<Tet>{{0, 1, 2, 3}, {1, 2, 3, 4}}));
  EXPECT_EQ(data.regions, (std::vector<Index>{11, 12}));
  const TetMesh mesh(data);
  EXPECT_EQ(mesh.dropped_vertices(), 1);
  EXPECT_DOUBLE_EQ(mesh.total_volume(), 0.5);
}

TEST(ReadMesh, ReadsMeditWithWindowsLinesAndWithoutEnd) {
  std::string text = medit.substr(0, medit.find("Edges"));
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  EXPECT_EQ(read_mesh_data(write_file("a.mesh", text)).tets.size(), 2u);
}

TEST(ReadMesh, ReadsGmsh2WithScatteredTags) {
  const MeshData data = read_mesh_data(write_file("a.msh", gmsh2));
  ASSERT_EQ(data.vertices.size(), 5u);
  EXPECT_EQ(data.tets, (std::vector<Tet>{{0, 1, 2, 3}, {1, 2, 3, 4}}));
  EXPECT_EQ(data.regions, (std::vector<Index>{7, 3}));  // the physical group, or else the entity
  EXPECT_EQ(data.region_names, (std::map<Index, std::string>{{7, "body"}}));
  ASSERT_EQ(data.sets.size(), 2u);
  EXPECT_EQ(data.sets.at("the floor"), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(data.sets.at("body"), (std::vector<Index>{0, 1, 2, 3}));
}

TEST(ReadMesh, ReadsGmsh4WithEntitiesAndUnknownSections) {
  const MeshData data = read_mesh_data(write_file("a.msh", gmsh4));
  ASSERT_EQ(data.vertices.size(), 5u);
  EXPECT_EQ(data.vertices[3], Vec3(1, 1, 1));
  EXPECT_EQ(data.vertices[4], Vec3(0, 0, 1));
  EXPECT_EQ(data.tets, (std::vector<Tet>{{0, 1, 2, 4}, {1, 2, 4, 3}}));
  EXPECT_EQ(data.regions, (std::vector<Index>{7, 9}));
  ASSERT_EQ(data.sets.size(), 2u);
  EXPECT_EQ(data.sets.at("floor"), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(data.sets.at("body"), (std::vector<Index>{0, 1, 2, 4}));
  EXPECT_NO_THROW(TetMesh{data});
}

TEST(ReadMesh, RecognisesTheFormatByContent) {
  EXPECT_EQ(read_mesh_data(write_file("gmsh.mesh", gmsh2)).tets.size(), 2u);
  EXPECT_EQ(read_mesh_data(write_file("medit.msh", medit)).tets.size(), 2u);
  EXPECT_TRUE(contains(error_of("solid ascii stl\n"), "m:1: this is a surface, without tetrahedra"));
  EXPECT_TRUE(contains(error_of("hello\n"), "m:1: not a mesh of a known format: neither MEDIT"));
  EXPECT_TRUE(contains(error_of(""), "m: the file is empty"));
  EXPECT_TRUE(contains(error_of(" \n"), "m: the file is empty"));
}

TEST(ReadMesh, TurnsAFileOverWhenAllItsElementsAreInverted) {
  const std::string inverted = with(with(medit, "1 2 3 4 11", "2 1 3 4 11"), "2 3 4 5 12", "3 2 4 5 12");
  const TetMesh mesh = read_mesh(write_file("a.mesh", inverted));
  EXPECT_DOUBLE_EQ(mesh.total_volume(), 0.5);
  ASSERT_FALSE(mesh.notes().empty());
  EXPECT_TRUE(contains(mesh.notes()[0], "turned over"));
}

TEST(ReadMesh, LeavesAMixtureOfOrientationsToTheMeshCheck) {
  const auto path = write_file("a.mesh", with(medit, "1 2 3 4 11", "2 1 3 4 11"));
  const std::string error = input_error([&] { TetMesh mesh = read_mesh(path); });
  EXPECT_TRUE(contains(
      error, "a.mesh: element 0 (vertices 1 0 2 3) is inverted: volume -0.166667 m^3; 1 such element(s) of 2"));
}

TEST(ReadMesh, RefusesFilesThatAreNotThere) {
  EXPECT_TRUE(contains(input_error([] { read_mesh_data("no/such/file.mesh"); }), "no/such/file.mesh: no such file"));
  EXPECT_TRUE(contains(input_error([] { read_mesh_data(testing::TempDir()); }), "not a regular file"));
}

TEST(ReadMesh, NamesTheLineOfABadMeditNumber) {
  EXPECT_TRUE(contains(error_of(with(medit, "0 1 0 0\n", "0 x1 0 0\n")),
                       "m:8: expected a vertex coordinate (a number), found 'x1'"));
  EXPECT_TRUE(contains(error_of(with(medit, "0 1 0 0\n", "0 nan 0 0\n")), "m:8: a vertex coordinate is nan"));
  EXPECT_TRUE(contains(error_of(with(medit, "0 1 0 0\n", "0 -inf 0 0\n")), "m:8: a vertex coordinate is -inf"));
  EXPECT_TRUE(contains(error_of(with(medit, "0 1 0 0\n", "0 1e999 0 0\n")),
                       "m:8: a vertex coordinate is out of range: '1e999'"));
  EXPECT_TRUE(contains(error_of(with(medit, "0 1 0 0\n", "0 1 0 0.5\n")),
                       "m:8: expected the reference of a vertex (an integer), found '0.5'"));
  EXPECT_TRUE(contains(error_of(with(medit, "1 2 3 4 11", "1 2 3 7 11")),
                       "m:20: the vertex number of a tetrahedron is 7, outside 1 to 6"));
  EXPECT_TRUE(contains(error_of(with(medit, "1 2 3 4 11", "0 2 3 4 11")),
                       "m:20: the vertex number of a tetrahedron is 0, outside 1 to 6"));
}

TEST(ReadMesh, NamesTheLineOfAWrongMeditCount) {
  EXPECT_TRUE(contains(error_of(with(medit, "Vertices\n6", "Vertices\n7")),
                       "m:12: expected a vertex coordinate (a number), found 'Triangles'"));
  EXPECT_TRUE(
      contains(error_of(with(medit, "Vertices\n6", "Vertices\n5")), "m:11: expected a section keyword, found '-5'"));
  EXPECT_TRUE(contains(error_of(with(medit, "Vertices\n6", "Vertices\n-1")), "m:5: the number of vertices is -1"));
  EXPECT_TRUE(contains(error_of(with(medit, "Tetrahedra\n2", "Tetrahedra\n2000000000")),
                       "m:19: the number of tetrahedra is 2000000000, but the rest of the file can hold"));
  EXPECT_TRUE(contains(error_of(with(medit, "Tetrahedra\n2", "Tetrahedra\n99999999999999999999")),
                       "m:19: the number of tetrahedra is out of range"));
}

TEST(ReadMesh, RefusesAMeditFileCutShortAnywhere) {
  // Up to the end of the last tetrahedron, every prefix that ends with a whole line is an error.
  const std::size_t whole = medit.find("Edges");
  for (std::size_t at = medit.find('\n'); at + 1 < whole; at = medit.find('\n', at + 1)) {
    EXPECT_THROW(parse_mesh(medit.substr(0, at + 1), "m"), InputError) << at;
  }
}

TEST(ReadMesh, RefusesMeditSectionsItCannotUse) {
  EXPECT_TRUE(contains(error_of(with(medit, "Dimension 3", "Dimension 2")), "m:3: the dimension must be 3"));
  EXPECT_TRUE(
      contains(error_of(with(medit, "Edges\n0", "Hexahedra\n1\n1 2 3 4 5 6 1 2 0")), "m:23: the file holds Hexahedra"));
  EXPECT_TRUE(contains(error_of(with(medit, "Edges\n0", "TetrahedraP3\n1\n")), "m:23: the file holds TetrahedraP3"));
  EXPECT_TRUE(contains(error_of(with(medit, "Edges\n0", "Vertices\n0")), "m:22: a second Vertices section"));
  EXPECT_TRUE(contains(error_of("MeshVersionFormatted 9\n"), "m:1: the format version is 9"));
  EXPECT_TRUE(
      contains(error_of("MeshVersionFormatted 2 Dimension 3 Tetrahedra 0"), "m:1: Tetrahedra come before Vertices"));
  EXPECT_TRUE(
      contains(error_of("MeshVersionFormatted 2 Dimension 3 Vertices 0"), "m: the file has no Tetrahedra section"));
}

TEST(ReadMesh, RefusesGmshVersionsItDoesNotKnow) {
  EXPECT_TRUE(contains(error_of(with(gmsh4, "4.1 0 8", "4 0 8")),
                       "m:2: Gmsh format 4 is not supported; save as version 4.1 or 2.2"));
  EXPECT_TRUE(contains(error_of("$Nodes\n0\n$EndNodes\n"), "m:1: $Nodes come before $MeshFormat"));
}

TEST(ReadMesh, ReadsTheCornersOfTetrahedraOfHigherOrderAndSaysSo) {
  const MeshData second =
      parse_mesh(with(gmsh2, "3 4 2 7 1 10 20 30 4000000", "3 11 2 7 1 10 20 30 4000000 10 20 30 10 20 30"), "m");
  EXPECT_EQ(second.tets, (std::vector<Tet>{{0, 1, 2, 3}, {1, 2, 3, 4}}));
  ASSERT_EQ(second.notes.size(), 2u);
  EXPECT_TRUE(contains(second.notes[0], "1 tetrahedra of higher order were read by their corners"));
  EXPECT_TRUE(contains(second.notes[1], "1 tetrahedra are in no physical group"));
  const MeshData medit_second = parse_mesh(
      with(with(medit, "Tetrahedra\n2\n1 2 3 4 11\n2 3 4 5 12\n", "TetrahedraP2 1\n1 2 3 4 5 5 5 5 5 5 11\n"), "Edges",
           "Edges"),
      "m");
  EXPECT_EQ(medit_second.tets, (std::vector<Tet>{{0, 1, 2, 3}}));
  ASSERT_EQ(medit_second.notes.size(), 1u);
}

TEST(ReadMesh, RefusesOtherVolumeElements) {
  EXPECT_TRUE(contains(error_of(with(gmsh4, "3 8 4 1\n", "3 8 5 1\n")),
                       "m:35: a hexahedron (Gmsh element type 5); only tetrahedra"));
  EXPECT_TRUE(contains(error_of(with(gmsh4, "3 8 4 1\n", "2 8 4 1\n")),
                       "m:35: elements of dimension 3 in a block of dimension 2"));
  EXPECT_TRUE(contains(error_of(with(gmsh4, "3 8 4 1\n", "3 8 93 1\n")), "m:35: Gmsh element type 93 is not known"));
}

TEST(ReadMesh, ReadsGmshElementData) {
  const std::string data = "$ElementData\n1\n\"stiffness\"\n1\n0\n3\n0\n1\n3\n2 7\n4 1.5\n3 -2.5e-3\n$EndElementData\n";
  const MeshData read = parse_mesh(gmsh2 + data, "m");
  ASSERT_EQ(read.element_fields.size(), 1u);
  EXPECT_EQ(read.element_fields.at("stiffness"), (ElementField{1, {-2.5e-3, 1.5}}));
  const MeshData partial = parse_mesh(gmsh2 + with(data, "3\n2 7\n4 1.5\n", "1\n"), "m");
  EXPECT_TRUE(partial.element_fields.empty());
  ASSERT_FALSE(partial.notes.empty());
  EXPECT_TRUE(contains(partial.notes[0], "\"stiffness\" were left out: 1 tetrahedra have none"));
  EXPECT_TRUE(contains(error_of(gmsh2 + with(data, "4 1.5", "4 nan")), "m:35: a value of an element is nan"));
  EXPECT_TRUE(contains(error_of(gmsh2 + with(data, "\n3\n2 7", "\n1000000000000000000\n2 7")),
                       "expected the tag of an element (an integer), found '$EndElementData'"));
}

TEST(ReadMesh, RefusesAWordThatIsNoWord) {
  std::string text = medit;
  text.insert(text.find("0 1 0 0"), std::string(10000, '7'));
  EXPECT_TRUE(contains(error_of(text), "m:8: a word of more than 4096 characters ('7777"));
}

TEST(ReadMesh, NamesTheLineOfABadGmshNumber) {
  EXPECT_TRUE(contains(error_of(with(gmsh2, "20 1 0 0", "20 1 nan 0")), "m:13: a node coordinate is nan"));
  EXPECT_TRUE(contains(error_of(with(gmsh2, "20 1 0 0", "20 1 0 zero")),
                       "m:13: expected a node coordinate (a number), found 'zero'"));
  EXPECT_TRUE(contains(error_of(with(gmsh2, "20 1 0 0", "10 1 0 0")), "two nodes have the tag 10"));
  EXPECT_TRUE(contains(error_of(with(gmsh4, "5\n4\n1 1 1", "5\n5\n1 1 1")), "two nodes have the tag 5"));
  EXPECT_TRUE(contains(error_of(with(gmsh2, "1 10 20 30 4000000\n", "1 10 20 30 31\n")),
                       "m:22: an element names node 31, but $Nodes has no such tag"));
  EXPECT_TRUE(contains(error_of(with(gmsh4, "2 1 2 3 4\n", "2 1 2 3 6\n")),
                       "m:36: an element names node 6, but $Nodes has no such tag"));
  EXPECT_TRUE(contains(error_of(with(gmsh2, "\"body\"", "body")),
                       "m:7: expected the name of a physical group in double quotes"));
  EXPECT_TRUE(contains(error_of(with(gmsh2, "\"body\"", "\"body")),
                       "m:7: expected the name of a physical group in double quotes"));
}

TEST(ReadMesh, NamesTheLineOfAWrongGmshCount) {
  EXPECT_TRUE(contains(error_of(with(gmsh2, "$Nodes\n5", "$Nodes\n4")), "m:16: expected $EndNodes, found '50'"));
  EXPECT_TRUE(contains(error_of(with(gmsh2, "$Nodes\n5", "$Nodes\n6")),
                       "m:17: expected the tag of a node (an integer), found '$EndNodes'"));
  EXPECT_TRUE(contains(error_of(with(gmsh2, "$Elements\n4", "$Elements\n900000000000")),
                       "m:19: the number of elements is 900000000000, but the rest"));
  EXPECT_TRUE(contains(error_of(with(gmsh4, "2 5 1 5\n", "2 4 1 5\n")),
                       "m:25: the blocks hold more than the 4 nodes announced"));
  EXPECT_TRUE(contains(error_of(with(gmsh4, "2 5 1 5\n", "2 6 1 5\n")), "6 nodes announced, but the blocks hold 5"));
  EXPECT_TRUE(contains(error_of(with(gmsh4, "3 3 1 3\n", "3 2 1 3\n")),
                       "m:37: the blocks hold more than the 2 elements announced"));
  EXPECT_TRUE(contains(error_of(with(gmsh4, "3 3 1 3\n", "3 4 1 3\n")), "4 elements announced, but the blocks hold 3"));
}

TEST(ReadMesh, RefusesAGmshFileCutShortAnywhere) {
  for (const std::string& text : {gmsh2, gmsh4}) {
    const std::size_t whole = text.find("$EndElements");
    for (std::size_t at = text.find('\n'); at < whole; at = text.find('\n', at + 1)) {
      EXPECT_THROW(parse_mesh(text.substr(0, at + 1), "m"), InputError) << text.substr(0, at + 1);
    }
  }
}

TEST(ReadMesh, SurvivesAnyByteChanged) {
  // Whatever one damaged byte makes of a file, the reader and the mesh check either accept it or throw InputError.
  for (const std::string& text : {medit, gmsh2, gmsh4}) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (char c : {'\0', ' ', '9', '-', '$', 'x', '"', '\n'}) {
        std::string damaged = text;
        damaged[at] = c;
        try {
          TetMesh mesh(parse_mesh(damaged, "m"));
        } catch (const InputError&) {
        }
      }
    }
  }
}

TEST(ReadMesh, LoadsEveryMeshOfAFolder) {
  const char* folder = std::getenv("PLIANT_MESHES");
  if (folder == nullptr) GTEST_SKIP() << "set PLIANT_MESHES to a folder of .mesh and .msh files";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".mesh" && entry.path().extension() != ".msh") continue;
    ++count;
    try {
      const auto begin = std::chrono::steady_clock::now();
      MeshData data = read_mesh_data(entry.path());
      const auto read = std::chrono::steady_clock::now();
      const TetMesh mesh(std::move(data));
      const auto checked = std::chrono::steady_clock::now();
      const MeshQuality q = measure_quality(mesh);
      const auto milliseconds = [](auto d) { return std::chrono::duration<double, std::milli>(d).count(); };
      std::cout << entry.path().filename().string() << ": " << q.vertices << " vertices, " << q.tets << " tets, "
                << mesh.dropped_vertices() << " dropped, " << q.pieces << " piece(s), volume " << q.total_volume
                << ", quality " << q.quality.least << " to " << q.quality.most << ", mean " << q.quality.mean
                << "; read " << milliseconds(read - begin) << " ms, checked " << milliseconds(checked - read)
                << " ms\n";
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace pliant
