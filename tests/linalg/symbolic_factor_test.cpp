#include "pliant/linalg/symbolic_factor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "linalg/test_matrices.hpp"
#include "pliant/linalg/tree_tasks.hpp"

namespace pliant {
namespace {

using test::grid_pattern;
using test::pattern_of;
using test::random_pattern;

std::vector<std::shared_ptr<const BlockPattern>> patterns() {
  std::mt19937 random(1);
  std::vector<std::shared_ptr<const BlockPattern>> all{pattern_of(1, {}, 2), pattern_of(40, {}, 2),
                                                       grid_pattern(7, 6, 5)};
  for (int edges : {30, 100, 400}) all.push_back(random_pattern(120, edges, random));
  return all;
}

/// The rows of each column of the factor by elimination of one position after the other, without any cleverness.
std::vector<std::set<Index>> eliminate(const BlockPattern& pattern, const SymbolicFactor& plan) {
  std::vector<std::set<Index>> columns(at(pattern.rows()));
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (std::int64_t k = pattern.diagonal(i) + 1; k < pattern.row_start()[at(i) + 1]; ++k) {
      const auto [low, high] = std::minmax(plan.position[at(i)], plan.position[at(pattern.columns()[at(k)])]);
      columns[at(low)].insert(high);
    }
  }
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (auto i = columns[j].begin(); i != columns[j].end(); ++i)
      columns[at(*i)].insert(std::next(i), columns[j].end());
  }
  return columns;
}

/// The largest share of zeros a supernode of so many scalar columns may hold.
double allowed_zeros(Index columns, int block_size) {
  if (columns <= 4 * block_size) return 1;
  return columns <= 16 ? 0.8 : columns <= 48 ? 0.3 : columns <= 144 ? 0.1 : 0.04;
}

TEST(SymbolicFactor, CoversTheFillAndStoresNoMoreZerosThanAmalgamationMay) {
  for (const auto& pattern : patterns()) {
    for (int b : {1, 3}) {
      const SymbolicFactor plan = analyze_symbolic(*pattern, b);
      const auto fill = eliminate(*pattern, plan);
      for (const auto& s : plan.supernodes) {
        std::set<Index> front;
        for (Index j = 0; j < s.pivots; ++j) front.insert(s.first + j);
        front.insert(plan.rows_of(s).begin(), plan.rows_of(s).end());
        EXPECT_EQ(static_cast<Index>(front.size()), s.pivots + s.rows);
        double zeros = 0;  // blocks below the diagonal that are stored and not filled
        for (Index j = 0; j < s.pivots; ++j) {
          const auto& column = fill[at(s.first + j)];
          EXPECT_TRUE(std::includes(front.begin(), front.end(), column.begin(), column.end()));
          zeros += s.pivots + s.rows - j - 1 - static_cast<double>(column.size());
        }
        const double k = b * s.pivots, entries = k * (k + 1) / 2 + k * b * s.rows;
        EXPECT_LE(b * b * zeros / entries, allowed_zeros(b * s.pivots, b))
            << s.pivots << " pivots, " << s.rows << " rows";
      }
    }
  }
}

TEST(SymbolicFactor, NumbersEveryNodeOnceAndDescendantsFirst) {
  for (const auto& pattern : patterns()) {
    const SymbolicFactor plan = analyze_symbolic(*pattern, 3);
    for (Index k = 0; k < pattern->rows(); ++k) EXPECT_EQ(plan.position[at(plan.order[at(k)])], k);
    Index next = 0;
    for (std::size_t k = 0; k < plan.supernodes.size(); ++k) {
      const auto& s = plan.supernodes[k];
      EXPECT_EQ(s.first, next);
      next += s.pivots;
      EXPECT_EQ(s.parent < 0, s.rows == 0);
      if (s.parent < 0) continue;
      EXPECT_GT(s.parent, static_cast<Index>(k));
      EXPECT_GE(s.first_descendant, plan.supernodes[at(s.parent)].first_descendant);
    }
    EXPECT_EQ(next, pattern->rows());
  }
}

TEST(SymbolicFactor, KnowsWhereRowsSitInTheParentAndHowFarTheyRun) {
  for (const auto& pattern : patterns()) {
    const SymbolicFactor plan = analyze_symbolic(*pattern, 3);
    for (const auto& s : plan.supernodes) {
      if (s.parent < 0) continue;
      const auto& p = plan.supernodes[at(s.parent)];
      const auto to = plan.parent_rows_of(s);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const Index position = to[i] < p.pivots ? p.first + to[i] : plan.rows_of(p)[at(to[i] - p.pivots)];
        EXPECT_EQ(position, plan.rows_of(s)[i]);
        const auto run = at(plan.runs_of(s)[i]);
        ASSERT_LE(i + run, to.size());
        for (std::size_t k = 1; k < run; ++k) EXPECT_EQ(to[i + k], to[i] + static_cast<Index>(k));
      }
    }
  }
}

TEST(SymbolicFactor, SendsEveryBlockToOnePlace) {
  for (const auto& pattern : patterns()) {
    const SymbolicFactor plan = analyze_symbolic(*pattern, 3);
    std::vector<int> seen(at(pattern->blocks()), 0);
    for (const auto& s : plan.supernodes) {
      for (const auto& e : plan.entries_of(s)) {
        ++seen[at(e.block)];
        const Index row = e.row < s.pivots ? s.first + e.row : plan.rows_of(s)[at(e.row - s.pivots)];
        const Index column = s.first + e.column;
        Index i = plan.order[at(row)], j = plan.order[at(column)];
        if (e.transposed) std::swap(i, j);
        EXPECT_EQ(pattern->find(i, j), e.block);
        EXPECT_GE(row, column);
      }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), pattern->blocks());
  }
}

TEST(SymbolicFactor, IsTheSameEveryTime) {
  const auto pattern = grid_pattern(9, 9, 9);
  EXPECT_EQ(analyze_symbolic(*pattern, 3).order, analyze_symbolic(*pattern, 3).order);
}

TEST(TreeTasks, RunsEverySupernodeOnceWithChildrenBeforeParents) {
  for (const auto& pattern : {grid_pattern(11, 11, 11), pattern_of(5000, {}, 2), pattern_of(1, {}, 2)}) {
    const SymbolicFactor plan = analyze_symbolic(*pattern, 3);
    TreeTasks tasks(plan);
    std::vector<std::atomic<int>> up(plan.supernodes.size()), down(plan.supernodes.size());
    tasks.leaves_to_roots([&](const TreeTasks::Task& task) {
      for (Index s = task.first; s <= task.last; ++s) {
        for (Index c : plan.children_of(plan.supernodes[at(s)])) EXPECT_EQ(up[at(c)], 1);
        ++up[at(s)];
      }
    });
    tasks.roots_to_leaves([&](const TreeTasks::Task& task) {
      for (Index s = task.last; s >= task.first; --s) {
        const Index parent = plan.supernodes[at(s)].parent;
        if (parent >= 0) {
          EXPECT_EQ(down[at(parent)], 1);
        }
        ++down[at(s)];
      }
    });
    for (std::size_t s = 0; s < up.size(); ++s) {
      EXPECT_EQ(up[s], 1);
      EXPECT_EQ(down[s], 1);
    }
  }
}

}  // namespace
}  // namespace pliant
