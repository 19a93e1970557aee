#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// From Gmsh's node tags, any distinct positive integers, to vertex numbers in the order the tags were given.
class GmshNodeNumbers {
 public:
  /// Returns a tag that occurs twice, if there is one.
  std::optional<std::int64_t> build(const std::vector<std::int64_t>& tags) {
    if (tags.empty()) return std::nullopt;
    const auto [lowest, highest] = std::minmax_element(tags.begin(), tags.end());
    first_ = *lowest;
    const auto span = static_cast<std::uint64_t>(*highest) - static_cast<std::uint64_t>(*lowest) + 1;
    if (span <= 4 * tags.size() + 64) return build_table(tags, span);
    sorted_.reserve(tags.size());
    for (std::size_t i = 0; i < tags.size(); ++i) sorted_.push_back({tags[i], static_cast<Index>(i)});
    std::sort(sorted_.begin(), sorted_.end());
    const auto twin = std::adjacent_find(sorted_.begin(), sorted_.end(),
                                         [](const Entry& a, const Entry& b) { return a.first == b.first; });
    if (twin != sorted_.end()) return twin->first;
    return std::nullopt;
  }

  /// The vertex with this tag, or -1.
  Index find(std::int64_t tag) const {
    if (!table_.empty()) {
      if (tag < first_ || tag - first_ >= static_cast<std::int64_t>(table_.size())) return -1;
      return table_[static_cast<std::size_t>(tag - first_)];
    }
    const auto entry = std::lower_bound(sorted_.begin(), sorted_.end(), tag,
                                        [](const Entry& e, std::int64_t t) { return e.first < t; });
    return entry != sorted_.end() && entry->first == tag ? entry->second : -1;
  }

 private:
  using Entry = std::pair<std::int64_t, Index>;

  std::optional<std::int64_t> build_table(const std::vector<std::int64_t>& tags, std::uint64_t span) {
    table_.assign(span, -1);
    for (std::size_t i = 0; i < tags.size(); ++i) {
      Index& slot = table_[static_cast<std::size_t>(tags[i] - first_)];
      if (slot != -1) return tags[i];
      slot = static_cast<Index>(i);
    }
    return std::nullopt;
  }

  std::int64_t first_ = 0;
  std::vector<Index> table_;   ///< when the tags lie close together: indexed by tag - first_
  std::vector<Entry> sorted_;  ///< otherwise: by tag
};

/// What the reader knows about Gmsh's element types (section "Node ordering" of Gmsh's manual numbers them).
struct GmshElementType {
  int dimension;
  int nodes;
};

/// Of the first-order types; nothing for the others.
inline std::optional<GmshElementType> first_order_gmsh_type(std::int64_t type) {
  switch (type) {
    case 15:
      return GmshElementType{0, 1};
    case 1:
      return GmshElementType{1, 2};
    case 2:
      return GmshElementType{2, 3};
    case 3:
      return GmshElementType{2, 4};
    case 4:
      return GmshElementType{3, 4};
    case 5:
      return GmshElementType{3, 8};
    case 6:
      return GmshElementType{3, 6};
    case 7:
      return GmshElementType{3, 5};
    default:
      return std::nullopt;
  }
}

/// A name for messages.
inline std::string gmsh_type_name(std::int64_t type) {
  switch (type) {
    case 5:
      return "hexahedron";
    case 6:
      return "prism";
    case 7:
      return "pyramid";
    case 8:
      return "3-node line";
    case 9:
      return "6-node triangle";
    case 11:
      return "10-node tetrahedron";
    case 26:
      return "4-node line";
    case 21:
      return "10-node triangle";
    case 29:
      return "20-node tetrahedron";
    case 30:
      return "35-node tetrahedron";
    default:
      return "element";
  }
}

}  // namespace pliant
