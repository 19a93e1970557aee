#include "pliant/linalg/level_widths.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

double least_factor_flops(const BlockPattern& pattern, int block_size) {
  // Nested dissection was never below these shares on boxes, sheets, bars and lattices.
  constexpr double kOfAllLevels = 0.25, kOfWidest = 4;
  const auto dense = [&](std::int64_t width) { return std::pow(double(width) * block_size, 3) / 3; };
  std::vector<std::uint8_t> is_seen(at(pattern.rows()), 0);
  std::vector<Index> level, next;
  double sum = 0;
  for (Index first = 0; first < pattern.rows(); ++first) {
    if (is_seen[at(first)]) continue;
    // The last node of a search begins the one that counts: it lies at an end.
    Index end = first;
    double all = 0, widest = 0;
    for (const std::uint8_t mark : {std::uint8_t(1), std::uint8_t(2)}) {
      level.assign(1, end);
      is_seen[at(end)] = mark;
      all = widest = 0;
      while (!level.empty()) {
        end = level.back();
        all += dense(std::ssize(level));
        widest = std::max(widest, dense(std::ssize(level)));
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
    sum += std::min(kOfAllLevels * all, kOfWidest * widest);
  }
  return sum;
}

}  // namespace pliant
