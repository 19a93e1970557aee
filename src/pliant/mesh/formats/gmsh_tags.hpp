#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// From Gmsh's tags of nodes or elements, any distinct integers, to numbers in the order the tags were given.
class GmshNumbers {
 public:
  /// Returns a tag that occurs twice, if there is one.
  std::optional<std::int64_t> build(const std::vector<std::int64_t>& tags) {
    if (tags.empty()) return std::nullopt;
    const auto [lowest, highest] = std::minmax_element(tags.begin(), tags.end());
    first_ = *lowest;
    const auto span = static_cast<std::uint64_t>(*highest) - static_cast<std::uint64_t>(*lowest);
    if (span <= 4 * tags.size() + 64) return build_table(tags, static_cast<std::size_t>(span) + 1);
    sorted_.reserve(tags.size());
    for (std::size_t i = 0; i < tags.size(); ++i) sorted_.push_back({tags[i], static_cast<Index>(i)});
    std::sort(sorted_.begin(), sorted_.end());
    const auto twin = std::adjacent_find(sorted_.begin(), sorted_.end(),
                                         [](const Entry& a, const Entry& b) { return a.first == b.first; });
    if (twin != sorted_.end()) return twin->first;
    return std::nullopt;
  }

  /// The number of this tag, or -1.
  Index find(std::int64_t tag) const {
    if (!table_.empty()) {
      if (tag < first_) return -1;
      const auto distance = static_cast<std::uint64_t>(tag) - static_cast<std::uint64_t>(first_);
      return distance < table_.size() ? table_[static_cast<std::size_t>(distance)] : -1;
    }
    const auto entry = std::lower_bound(sorted_.begin(), sorted_.end(), tag,
                                        [](const Entry& e, std::int64_t t) { return e.first < t; });
    return entry != sorted_.end() && entry->first == tag ? entry->second : -1;
  }

 private:
  using Entry = std::pair<std::int64_t, Index>;

  std::optional<std::int64_t> build_table(const std::vector<std::int64_t>& tags, std::size_t size) {
    table_.assign(size, -1);
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

/// An element type of Gmsh (section "Node ordering" of its manual numbers them). The corners come first among the
/// nodes.
struct GmshElementType {
  const char* name;
  int dimension;
  int nodes;
};

/// The types up to third order, and tetrahedra to fifth; nothing for others.
inline std::optional<GmshElementType> gmsh_type(std::int64_t number) {
  static constexpr std::array<GmshElementType, 32> types = {{{"", 0, 0},
                                                             {"line", 1, 2},
                                                             {"triangle", 2, 3},
                                                             {"quadrangle", 2, 4},
                                                             {"tetrahedron", 3, 4},
                                                             {"hexahedron", 3, 8},
                                                             {"prism", 3, 6},
                                                             {"pyramid", 3, 5},
                                                             {"3-node line", 1, 3},
                                                             {"6-node triangle", 2, 6},
                                                             {"9-node quadrangle", 2, 9},
                                                             {"10-node tetrahedron", 3, 10},
                                                             {"27-node hexahedron", 3, 27},
                                                             {"18-node prism", 3, 18},
                                                             {"14-node pyramid", 3, 14},
                                                             {"point", 0, 1},
                                                             {"8-node quadrangle", 2, 8},
                                                             {"20-node hexahedron", 3, 20},
                                                             {"15-node prism", 3, 15},
                                                             {"13-node pyramid", 3, 13},
                                                             {"9-node triangle", 2, 9},
                                                             {"10-node triangle", 2, 10},
                                                             {"12-node triangle", 2, 12},
                                                             {"15-node triangle", 2, 15},
                                                             {"incomplete 15-node triangle", 2, 15},
                                                             {"21-node triangle", 2, 21},
                                                             {"4-node line", 1, 4},
                                                             {"5-node line", 1, 5},
                                                             {"6-node line", 1, 6},
                                                             {"20-node tetrahedron", 3, 20},
                                                             {"35-node tetrahedron", 3, 35},
                                                             {"56-node tetrahedron", 3, 56}}};
  if (number < 1 || number >= static_cast<std::int64_t>(types.size())) return std::nullopt;
  return types[static_cast<std::size_t>(number)];
}

/// Tetrahedra of any order.
inline bool is_gmsh_tetrahedron(std::int64_t number) {
  return number == 4 || number == 11 || (number >= 29 && number <= 31);
}

}  // namespace pliant
