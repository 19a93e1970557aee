#include "pliant/linalg/explicit_factor.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "pliant/base/memory.hpp"
#include "pliant/linalg/blas.hpp"
#include "pliant/linalg/explicit_kernels.hpp"

namespace pliant {
namespace {

std::int64_t whole_tiles(std::int64_t rows) {
  return (rows + dense::explicit_tile - 1) / dense::explicit_tile * dense::explicit_tile;
}

template <Index width>
void copy_row(const float* from, float* to) {
  std::memcpy(to, from, width * sizeof(float));
}

template <Index width>
void add_row(const float* from, float* to) {
  for (Index c = 0; c < width; ++c) to[c] += from[c];
}

}  // namespace

ExplicitFactor::ExplicitFactor(std::shared_ptr<const SymbolicFactor> plan, const double* panels)
    : plan_(std::move(plan)), tasks_(*plan_) {
  const dense::Blas blas;
  make_fronts();
  require_memory("the factor in single precision", static_cast<double>(bytes()));
  panels_ = make_aligned_array(at((numbers_ + 1) / 2));
  work_ = make_aligned_array(at(2 * work_rows_));  // four floats a row
  tbb::parallel_for(std::size_t{0}, fronts_.size(), [&](std::size_t s) { make_panel(panels, s); });
}

void ExplicitFactor::make_fronts() {
  const int b = plan_->block_size;
  fronts_.resize(plan_->supernodes.size());
  part_of_last_.assign(fronts_.size(), -1);
  for (const TreeTasks::Task& task : tasks_.tasks()) {
    const auto& last = plan_->supernodes[at(task.last)];
    Part part;
    part.begin = plan_->supernodes[at(task.first)].first;
    part.end = last.first + last.pivots;
    part.rows = b * last.rows;
    part.values = work_rows_;
    work_rows_ += b * (part.end - part.begin) + part.rows;
    const auto below = plan_->rows_of(last);
    for (Index s = task.first; s <= task.last; ++s) {
      const auto& node = plan_->supernodes[at(s)];
      Front& front = fronts_[at(s)];
      front.first = b * (node.first - part.begin);
      front.pivots = b * node.pivots;
      front.rows = b * node.rows;
      front.panel = numbers_;
      front.row_start = static_cast<std::int64_t>(rows_.size());
      numbers_ += dense::ExplicitTiles(front.pivots + front.rows, front.pivots).numbers();
      part.scratch_rows = std::max(part.scratch_rows, whole_tiles(front.pivots + front.rows));
      for (Index row : plan_->rows_of(node)) {
        Index place = row - part.begin;
        if (row >= part.end) {
          const auto found = std::lower_bound(below.begin(), below.end(), row);
          assert(found != below.end() && *found == row);
          place = part.end - part.begin + static_cast<Index>(found - below.begin());
        }
        for (int d = 0; d < b; ++d) rows_.push_back(b * place + d);
      }
    }
    part.scratch = work_rows_;
    work_rows_ += 3 * part.scratch_rows;
    part_of_last_[at(task.last)] = static_cast<Index>(parts_.size());
    parts_.push_back(part);
  }
}

/// W = [1; -L21] L11^{-1} in double, then rounded.
void ExplicitFactor::make_panel(const double* panels, std::size_t s) {
  const auto& node = plan_->supernodes[s];
  const Front& front = fronts_[s];
  const Index pivots = front.pivots, rows = pivots + front.rows;
  const double* L = panels + node.panel;
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(rows, pivots);
  for (Index j = 0; j < pivots; ++j) {
    W(j, j) = 1;
    for (Index i = pivots; i < rows; ++i) W(i, j) = -L[i + j * node.stride];
  }
  dense::Blas::solve_lower_from_right(rows, pivots, L, static_cast<int>(node.stride), W.data());
  const dense::ExplicitTiles panel(rows, pivots);
  for (Index t = 0; t < panel.tiles; ++t) {
    float* tile = front_panel(front) + panel.start(t);
    for (Index j = 0; j < panel.width(t); ++j) {
      for (Index i = 0; i < dense::explicit_tile; ++i) {
        const Index row = t * dense::explicit_tile + i;
        tile[8 * j + i] = j < pivots && row < rows ? static_cast<float>(W(row, j)) : 0.0F;
      }
    }
  }
}

template <int Q>
void ExplicitFactor::forward(const TreeTasks::Task& task, const Sides& sides) {
  constexpr Index width = dense::row_width<Q>;
  const int b = plan_->block_size;
  const Part& part = part_of(task);
  float* work = reinterpret_cast<float*>(work_.get());
  float* values = work + 4 * part.values;
  float* out = work + 4 * part.scratch;
  const Index own = b * (part.end - part.begin);
  float* v = values;
  for (Index k = part.begin; k < part.end; ++k) {
    const double* from = sides.b + std::ptrdiff_t(b) * plan_->order[at(k)] * sides.unknown_step;
    for (int d = 0; d < b; ++d, from += sides.unknown_step, v += width) {
      for (int q = 0; q < Q; ++q) v[q] = q < sides.count ? static_cast<float>(from[q * sides.side_step]) : 0.0F;
      if constexpr (Q > 1) v[3] = 0;
    }
  }
  std::fill_n(values + own * width, part.rows * width, 0.0F);
  if (task.first == task.last) {
    const auto& node = plan_->supernodes[at(task.last)];
    for (Index child : plan_->children_of(node)) {
      const Part& below = parts_[at(part_of_last_[at(child)])];
      const float* update = work + 4 * below.values + width * b * (below.end - below.begin);
      for (Index row : plan_->parent_rows_of(plan_->supernodes[at(child)]))
        for (int d = 0; d < b; ++d, update += width) add_row<width>(update, values + width * (b * row + d));
    }
  }
  for (Index s = task.first; s <= task.last; ++s) {
    const Front& front = fronts_[at(s)];
    float* pivots = values + width * front.first;
    dense::explicit_forward<Q>(front.pivots + front.rows, front.pivots, front_panel(front), pivots, out);
    std::memcpy(pivots, out, at(width * front.pivots) * sizeof(float));
    const Index* row = rows_.data() + front.row_start;
    const float* update = out + width * front.pivots;
    for (Index i = 0; i < front.rows; ++i) add_row<width>(update + width * i, values + width * row[i]);
  }
}

template <int Q>
void ExplicitFactor::backward(const TreeTasks::Task& task, const Sides& sides) {
  constexpr Index width = dense::row_width<Q>;
  const int b = plan_->block_size;
  const Part& part = part_of(task);
  float* work = reinterpret_cast<float*>(work_.get());
  float* values = work + 4 * part.values;
  float* front_values = work + 4 * part.scratch;
  float* scratch = front_values + 4 * part.scratch_rows;
  float* out = scratch + 4 * part.scratch_rows;
  const Index own = b * (part.end - part.begin);
  const auto& last = plan_->supernodes[at(task.last)];
  if (last.parent >= 0) {
    // Only lone supernodes have children that are tasks of their own: the parent's values are its front's.
    const TreeTasks::Task& up = tasks_.tasks()[at(task.parent)];
    const float* known = work + 4 * part_of(up).values;
    float* to = values + width * own;
    for (Index row : plan_->parent_rows_of(last))
      for (int d = 0; d < b; ++d, to += width) copy_row<width>(known + width * (b * row + d), to);
  }
  for (Index s = task.last; s >= task.first; --s) {
    const Front& front = fronts_[at(s)];
    const Index rows = front.pivots + front.rows;
    float* pivots = values + width * front.first;
    std::memcpy(front_values, pivots, at(width * front.pivots) * sizeof(float));
    const Index* row = rows_.data() + front.row_start;
    float* below = front_values + width * front.pivots;
    for (Index i = 0; i < front.rows; ++i) copy_row<width>(values + width * row[i], below + width * i);
    std::fill(front_values + width * rows, front_values + width * whole_tiles(rows), 0.0F);
    dense::explicit_backward<Q>(rows, front.pivots, front_panel(front), front_values, scratch, out);
    std::memcpy(pivots, out, at(width * front.pivots) * sizeof(float));
  }
  const float* v = values;
  for (Index k = part.begin; k < part.end; ++k) {
    double* to = sides.x + std::ptrdiff_t(b) * plan_->order[at(k)] * sides.unknown_step;
    for (int d = 0; d < b; ++d, to += sides.unknown_step, v += width) {
      for (int q = 0; q < std::min(Q, sides.count); ++q) to[q * sides.side_step] = v[q];
    }
  }
}

template <int Q>
void ExplicitFactor::run(const Sides& sides) {
  tasks_.leaves_to_roots([&](const TreeTasks::Task& task) { forward<Q>(task, sides); });
  tasks_.roots_to_leaves([&](const TreeTasks::Task& task) { backward<Q>(task, sides); });
}

void ExplicitFactor::solve(const double* b, double* x, int sides, std::ptrdiff_t unknown_step,
                           std::ptrdiff_t side_step) {
  assert(sides >= 1 && sides <= 3);
  const Sides all{b, x, sides, unknown_step, side_step};
  if (sides == 1) {
    run<1>(all);
  } else {
    run<3>(all);
  }
}

}  // namespace pliant
