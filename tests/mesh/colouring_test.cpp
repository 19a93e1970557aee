#include "pliant/mesh/colouring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "pliant/mesh/generators.hpp"

namespace pliant {
namespace {

struct Stencils {
  std::vector<Index> start{0}, nodes;
  Index node_count = 0;

  explicit Stencils(const MeshData& mesh) : node_count(static_cast<Index>(mesh.vertices.size())) {
    for (const Tet& tet : mesh.tets) {
      nodes.insert(nodes.end(), tet.begin(), tet.end());
      start.push_back(static_cast<Index>(nodes.size()));
    }
  }
  std::vector<Index> uncoloured() const { return std::vector<Index>(start.size() - 1, -1); }
};

void expect_no_shared_nodes(const Stencils& s, const std::vector<Index>& colours) {
  const ColourOrder order = order_by_colour(colours);
  for (Index c = 0; c < order.colours(); ++c) {
    std::set<Index> seen;
    for (Index k = order.range(c).begin; k < order.range(c).end; ++k) {
      const auto e = static_cast<std::size_t>(order.elements[static_cast<std::size_t>(k)]);
      EXPECT_EQ(colours[e], c);
      for (Index i = s.start[e]; i < s.start[e + 1]; ++i)
        EXPECT_TRUE(seen.insert(s.nodes[static_cast<std::size_t>(i)]).second);
    }
  }
}

TEST(Colouring, ElementsOfOneColourShareNoNodeAndColoursAreFew) {
  for (BoxSplit split : {BoxSplit::five, BoxSplit::six}) {
    const Stencils s(box({.size = {1, 1, 1}, .cells = {6, 5, 4}, .split = split}));
    std::vector<Index> colours = s.uncoloured();
    const Index count = colour_elements(s.node_count, s.start, s.nodes, colours);
    expect_no_shared_nodes(s, colours);
    // At least as many as the elements around a vertex (32 and 24), at most 4 (that - 1) + 1.
    EXPECT_GE(count, split == BoxSplit::five ? 32 : 24);
    EXPECT_LE(count, 48);
    EXPECT_EQ(order_by_colour(colours).elements.size(), colours.size());
  }
}

TEST(Colouring, ANewOneKeepsWhatItCanOfTheOld) {
  MeshData mesh = box({.size = {1, 1, 1}, .cells = {6, 6, 6}});
  const Stencils s(mesh);
  std::vector<Index> colours = s.uncoloured();
  colour_elements(s.node_count, s.start, s.nodes, colours);
  std::vector<Index> again = colours;
  colour_elements(s.node_count, s.start, s.nodes, again);
  EXPECT_EQ(again, colours);
  // Other connections: two distant vertices become one.
  for (Tet& tet : mesh.tets) std::replace(tet.begin(), tet.end(), Index{171}, Index{57});
  const Stencils glued(mesh);
  colour_elements(glued.node_count, glued.start, glued.nodes, again);
  expect_no_shared_nodes(glued, again);
  std::size_t changed = 0;
  for (std::size_t e = 0; e < colours.size(); ++e) changed += colours[e] != again[e];
  EXPECT_GT(changed, 0u);
  EXPECT_LT(changed, colours.size() / 10);
}

TEST(Colouring, AHundredElementsAtOneNodeHaveAHundredColours) {
  Stencils s(MeshData{});
  s.node_count = 101;
  for (Index e = 0; e < 100; ++e) {
    s.nodes.insert(s.nodes.end(), {0, e + 1, e + 1});
    s.start.push_back(static_cast<Index>(s.nodes.size()));
  }
  std::vector<Index> colours = s.uncoloured();
  EXPECT_EQ(colour_elements(s.node_count, s.start, s.nodes, colours), 100);
  EXPECT_EQ(order_by_colour({}).colours(), 0);
}

}  // namespace
}  // namespace pliant
