#include "pliant/mesh/colouring.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>

namespace pliant {

namespace {

/// For each node the set of colours it has met, as bits; rows grow when a colour does not fit.
class UsedColours {
 public:
  explicit UsedColours(Index nodes) : nodes_(static_cast<std::size_t>(nodes)), bits_(nodes_ * words_, 0) {}

  bool free(std::span<const Index> nodes, Index colour) const {
    const std::size_t word = static_cast<std::size_t>(colour) / 64;
    if (word >= words_) return true;
    const std::uint64_t bit = std::uint64_t{1} << (colour % 64);
    return std::none_of(nodes.begin(), nodes.end(), [&](Index i) { return (row(i)[word] & bit) != 0; });
  }
  Index smallest_free(std::span<const Index> nodes) const {
    for (std::size_t word = 0; word < words_; ++word) {
      std::uint64_t used = 0;
      for (Index i : nodes) used |= row(i)[word];
      if (~used != 0) return static_cast<Index>(64 * word) + std::countr_one(used);
    }
    return static_cast<Index>(64 * words_);
  }
  void use(std::span<const Index> nodes, Index colour) {
    const std::size_t word = static_cast<std::size_t>(colour) / 64;
    if (word >= words_) widen(word + 1);
    for (Index i : nodes) bits_[static_cast<std::size_t>(i) * words_ + word] |= std::uint64_t{1} << (colour % 64);
  }

 private:
  const std::uint64_t* row(Index i) const { return bits_.data() + static_cast<std::size_t>(i) * words_; }
  void widen(std::size_t words) {
    std::vector<std::uint64_t> wider(nodes_ * words, 0);
    for (std::size_t i = 0; i < nodes_; ++i)
      std::copy_n(bits_.begin() + static_cast<std::ptrdiff_t>(i * words_), words_,
                  wider.begin() + static_cast<std::ptrdiff_t>(i * words));
    bits_ = std::move(wider);
    words_ = words;
  }

  std::size_t nodes_, words_ = 1;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

Index colour_elements(Index node_count, std::span<const Index> start, std::span<const Index> nodes,
                      std::vector<Index>& colours) {
  assert(start.size() == colours.size() + 1);
  UsedColours used(node_count);
  Index count = 0;
  for (std::size_t e = 0; e < colours.size(); ++e) {
    const auto of =
        nodes.subspan(static_cast<std::size_t>(start[e]), static_cast<std::size_t>(start[e + 1] - start[e]));
    if (colours[e] < 0 || !used.free(of, colours[e])) colours[e] = used.smallest_free(of);
    used.use(of, colours[e]);
    count = std::max(count, colours[e] + 1);
  }
  return count;
}

ColourOrder order_by_colour(std::span<const Index> colours) {
  ColourOrder order;
  const Index count = colours.empty() ? 0 : *std::max_element(colours.begin(), colours.end()) + 1;
  order.start.assign(static_cast<std::size_t>(count) + 1, 0);
  for (Index c : colours) ++order.start[static_cast<std::size_t>(c) + 1];
  for (std::size_t c = 1; c < order.start.size(); ++c) order.start[c] += order.start[c - 1];
  std::vector<Index> next(order.start.begin(), order.start.end() - 1);
  order.elements.resize(colours.size());
  for (std::size_t e = 0; e < colours.size(); ++e)
    order.elements[static_cast<std::size_t>(next[static_cast<std::size_t>(colours[e])]++)] = static_cast<Index>(e);
  return order;
}

}  // namespace pliant
