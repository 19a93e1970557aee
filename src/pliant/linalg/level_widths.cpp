#include "pliant/linalg/level_widths.hpp"

#include <algorithm>

namespace pliant {

FactorGuess guess_factor(const BlockPattern& pattern, int block_size) {
  // Of dense triangles as wide as a level: all of them, and the widest.
  constexpr double kFlopsOfAll = 0.25, kFlopsOfWidest = 4, kEntriesOfAll = 1, kEntriesOfWidest = 8, kFill = 2;
  std::vector<std::uint8_t> is_seen(at(pattern.rows()), 0);
  std::vector<Index> level, next;
  FactorGuess guess;
  guess.entries = kFill * block_size * block_size * static_cast<double>(pattern.blocks());
  for (Index first = 0; first < pattern.rows(); ++first) {
    if (is_seen[at(first)]) continue;
    // The last node of a search begins the one that counts: it lies at an end.
    Index end = first;
    double squares = 0, cubes = 0, widest = 0;
    for (const std::uint8_t mark : {std::uint8_t(1), std::uint8_t(2)}) {
      level.assign(1, end);
      is_seen[at(end)] = mark;
      squares = cubes = widest = 0;
      while (!level.empty()) {
        end = level.back();
        const double width = static_cast<double>(level.size()) * block_size;
        squares += width * width;
        cubes += width * width * width;
        widest = std::max(widest, width);
        next.clear();
        const auto visit = [&](Index j) {
          if (is_seen[at(j)] == mark) return;
          is_seen[at(j)] = mark;
          next.push_back(j);
        };
        for (Index i : level) {
          for (const BlockPattern::Transposed& block : pattern.lower_row(i)) visit(block.column);
          for (std::int64_t k = pattern.diagonal(i) + 1; k < pattern.row_start()[at(i) + 1]; ++k)
            visit(pattern.columns()[at(k)]);
        }
        std::swap(level, next);
      }
    }
    guess.entries += 0.5 * std::min(kEntriesOfAll * squares, kEntriesOfWidest * widest * widest);
    guess.flops += std::min(kFlopsOfAll * cubes, kFlopsOfWidest * widest * widest * widest) / 3;
  }
  return guess;
}

}  // namespace pliant
