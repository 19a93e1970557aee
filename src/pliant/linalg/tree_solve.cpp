// Forward: a front's values are its pivots' right-hand side plus what its children pass on; the values below its pivots
// are what it passes on to its parent. Backward: the rows below are known, the pivots follow. Each front has its own
// rows of workspace, so fronts only touch their children's or parent's results, and tasks over the tree need no locks.
#include "pliant/linalg/tree_solve.hpp"

#include <cassert>

#include "pliant/linalg/tiles.hpp"

namespace pliant {
namespace {

using Supernode = SymbolicFactor::Supernode;
using dense::Values;

/// Right-hand sides solved together: as many as keep a front's rows of them in cache.
constexpr Index most_columns = 32;
/// Columns of a panel in one step, and the size of tiles where it is split among threads.
constexpr Index step_columns = 48;
constexpr Index tile_rows = 512;
constexpr Index tile_columns = 24;
constexpr double least_parallel_panel = 3e5;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Position of (row, right-hand side) in either layout.
std::int64_t place(const Values& v, std::int64_t row, Index q) {
  return v.count <= dense::few ? row + q * v.step : row * v.step + q;
}

/// op(from[k], to[map[k]]) for all k, in nodes of b rows.
template <int b, class Op>
void for_node_rows(const Values& from, const Values& to, std::span<const Index> map, Op&& op) {
  const auto n = static_cast<Index>(map.size());
  if (from.count <= dense::few) {
    for (Index q = 0; q < from.count; ++q) {
      double* f = from.data + q * from.step;
      double* t = to.data + q * to.step;
      for (Index i = 0; i < n; ++i) {
        for (int c = 0; c < b; ++c) op(f[b * i + c], t[std::int64_t(b) * map[at(i)] + c]);
      }
    }
  } else {
    for (Index i = 0; i < n; ++i) {
      double* f = from.data + std::int64_t(b) * i * from.step;
      double* t = to.data + std::int64_t(b) * map[at(i)] * to.step;
      for (std::int64_t k = 0; k < b * from.step; ++k) op(f[k], t[k]);
    }
  }
}

void copy_rows(Index rows, const Values& from, const Values& to) {
  if (from.count <= dense::few) {
    for (Index q = 0; q < from.count; ++q) std::copy_n(from.data + q * from.step, rows, to.data + q * to.step);
  } else {
    std::copy_n(from.data, rows * from.step, to.data);
  }
}

/// The pivots of an L D L^T: to[i] = from[order[i]], or back: to[order[i]] = from[i].
enum class Direction { to_pivots, back };
void permute_rows(Index rows, const Index* order, Direction direction, const Values& from, const Values& to) {
  for (Index i = 0; i < rows; ++i) {
    const Index source = direction == Direction::back ? i : order[i],
                target = direction == Direction::back ? order[i] : i;
    for (Index q = 0; q < from.count; ++q) to.data[place(to, target, q)] = from.data[place(from, source, q)];
  }
}

/// Values become D^{-1} times them.
void divide_by_pivots(Index pivots, const double* panel, std::int64_t stride, const double* off_diagonal,
                      const Values& v) {
  for (Index i = 0; i < pivots; ++i) {
    const double a = panel[i * (stride + 1)], b = off_diagonal[i];
    if (b == 0) {
      for (Index q = 0; q < v.count; ++q) v.data[place(v, i, q)] /= a;
      continue;
    }
    const double c = panel[(i + 1) * (stride + 1)], p = a / b, r = c / b, det = (p * r - 1) * b;
    for (Index q = 0; q < v.count; ++q) {
      double &x = v.data[place(v, i, q)], &y = v.data[place(v, i + 1, q)];
      const double x0 = x, y0 = y;
      x = (r * x0 - y0) / det;
      y = (p * y0 - x0) / det;
    }
    ++i;
  }
}

void clear_rows(Index rows, const Values& v) {
  if (v.count <= dense::few) {
    for (Index q = 0; q < v.count; ++q) std::fill_n(v.data + q * v.step, rows, 0.0);
  } else {
    std::fill_n(v.data, rows * v.step, 0.0);
  }
}

}  // namespace

TreeSolve::TreeSolve(std::shared_ptr<const SymbolicFactor> plan, TreeTasks& tasks)
    : plan_(std::move(plan)), tasks_(tasks) {
  work_start_.reserve(plan_->supernodes.size());
  for (const Supernode& node : plan_->supernodes) {
    work_start_.push_back(work_rows_);
    work_rows_ += std::int64_t(plan_->block_size) * (node.pivots + node.rows);
  }
}

Values TreeSolve::values_of(Index s) {
  const Supernode& node = plan_->supernodes[at(s)];
  const std::int64_t rows = std::int64_t(plan_->block_size) * (node.pivots + node.rows);
  return {work_.get() + work_start_[at(s)] * count_, count_, count_ <= dense::few ? rows : count_};
}

template <class T, int b>
void TreeSolve::forward(const T* panels, const FactorNumbers* ldlt, Index s) {
  const Supernode& node = plan_->supernodes[at(s)];
  const Index pivots = b * node.pivots, rows = b * node.rows, front_rows = pivots + rows;
  const Values values = values_of(s);
  const std::int64_t x_step = count_ <= dense::few ? std::int64_t(b) * plan_->nodes : count_;
  const Values x = Values{x_, count_, x_step}.from_row(b * node.first);
  copy_rows(pivots, x, values);
  clear_rows(rows, values.from_row(pivots));
  for (Index k : plan_->children_of(node)) {
    const Supernode& child = plan_->supernodes[at(k)];
    for_node_rows<b>(values_of(k).from_row(b * child.pivots), values, plan_->parent_rows_of(child),
                     [](double from, double& to) { to += from; });
  }
  const T* panel = panels + node.panel;
  const auto diagonal = ldlt ? dense::Diagonal::unit : dense::Diagonal::stored;
  const std::size_t first = at(std::int64_t(b) * node.first);
  if (ldlt) {
    copy_rows(pivots, values, x);  // where nothing is kept meanwhile
    permute_rows(pivots, ldlt->pivot_order.data() + first, Direction::to_pivots, x, values);
  }
  const bool parallel = double(node.stride) * pivots >= least_parallel_panel;
  for (Index j = 0; j < pivots; j += step_columns) {
    const Index width = std::min(step_columns, pivots - j), below = j + width;
    const T* L = panel + j * node.stride;
    dense::solve_lower(width, L + j, node.stride, diagonal, values.from_row(j));
    for_tiles(parallel, front_rows - below, tile_rows, [&](Index begin, Index end) {
      dense::subtract_apply(end - begin, width, L + below + begin, node.stride, values.from_row(j),
                            values.from_row(below + begin));
    });
  }
  if constexpr (std::is_same_v<T, double>) {
    if (ldlt) divide_by_pivots(pivots, panel, node.stride, ldlt->off_diagonal.data() + first, values);
  }
  copy_rows(pivots, values, x);
}

template <class T, int b>
void TreeSolve::backward(const T* panels, const FactorNumbers* ldlt, Index s) {
  const Supernode& node = plan_->supernodes[at(s)];
  const Index pivots = b * node.pivots, rows = b * node.rows, front_rows = pivots + rows;
  const Values values = values_of(s);
  const std::int64_t x_step = count_ <= dense::few ? std::int64_t(b) * plan_->nodes : count_;
  const Values all{x_, count_, x_step}, x = all.from_row(b * node.first);
  copy_rows(pivots, x, values);
  if (node.parent >= 0) {
    // The parent's front holds these rows, close together.
    const Values known = values_of(node.parent), below = values.from_row(pivots);
    const auto to = plan_->parent_rows_of(node);
    if (ldlt) {  // whose pivots are permuted there
      for_node_rows<b>(below, all, plan_->rows_of(node), [](double& from, double& to_x) { from = to_x; });
    } else {
      for_node_rows<b>(below, known, to, [](double& from, double& known_x) { from = known_x; });
    }
  }
  const T* panel = panels + node.panel;
  const auto diagonal = ldlt ? dense::Diagonal::unit : dense::Diagonal::stored;
  const bool parallel = double(node.stride) * pivots >= least_parallel_panel;
  for (Index j = (pivots - 1) / step_columns * step_columns; j >= 0; j -= step_columns) {
    const Index width = std::min(step_columns, pivots - j), below = j + width;
    const T* L = panel + j * node.stride;
    if (below < front_rows) {
      for_tiles(parallel, width, tile_columns, [&](Index begin, Index end) {
        dense::subtract_apply_transposed(front_rows - below, end - begin, L + below + begin * node.stride, node.stride,
                                         values.from_row(below), values.from_row(j + begin));
      });
    }
    dense::solve_lower_transposed(width, L + j, node.stride, diagonal, values.from_row(j));
  }
  if (ldlt) {
    permute_rows(pivots, ldlt->pivot_order.data() + at(std::int64_t(b) * node.first), Direction::back, values, x);
  } else {
    copy_rows(pivots, values, x);
  }
}

template <class T>
void TreeSolve::run(const T* panels, const FactorNumbers* ldlt, Eigen::Ref<Eigen::MatrixXd> rhs, Pass pass) {
  const int b = plan_->block_size;
  const std::int64_t unknowns = std::int64_t(b) * plan_->nodes;
  const auto padded = [](Eigen::Index columns) {
    const auto c = static_cast<Index>(std::min<Eigen::Index>(columns, most_columns));
    return c <= dense::few ? c : (c + 3) / 4 * 4;
  };
  if (const std::int64_t needed = padded(rhs.cols()) * (work_rows_ + unknowns); needed > work_size_) {
    work_size_ = 0;
    work_ = make_aligned_array(at(needed));
    work_size_ = needed;
  }
  const auto last = static_cast<Index>(plan_->supernodes.size()) - 1;
  for (Eigen::Index first = 0; first < rhs.cols(); first += most_columns) {
    const auto columns = static_cast<Index>(std::min<Eigen::Index>(most_columns, rhs.cols() - first));
    count_ = padded(columns);
    x_ = work_.get() + count_ * work_rows_;
    const Values x{x_, count_, count_ <= dense::few ? unknowns : count_};
    const std::int64_t rhs_step = rhs.outerStride();
    double* given = rhs.data() + first * rhs_step;
    // Both layouts in one loop over chunks of nodes: what one direction reads scattered, the cache holds for all
    // columns.
    const auto for_nodes = [&](auto&& move) {
      for_chunks(plan_->nodes, 1024, [&](Index begin, Index end) {
        for (Index q = 0; q < columns; ++q) {
          for (Index k = begin; k < end; ++k) {
            const double* s = ldlt ? ldlt->scale.data() + std::int64_t(b) * k : nullptr;
            double* from = given + q * rhs_step + std::int64_t(b) * plan_->order[at(k)];
            for (int d = 0; d < b; ++d) move(x.data[place(x, std::int64_t(b) * k + d, q)], from[d], s ? s[d] : 1.0);
          }
        }
      });
    };
    if (columns < count_) {
      for_chunks(plan_->nodes, 1024, [&](Index begin, Index end) {
        for (std::int64_t r = std::int64_t(b) * begin; r < std::int64_t(b) * end; ++r) {
          for (Index q = columns; q < count_; ++q) x.data[place(x, r, q)] = 0;
        }
      });
    }
    const auto sweep = [&](auto size) {
      constexpr int n = decltype(size)::value;
      if (pass == Pass::both) {
        for_nodes([](double& permuted, double& from, double s) { permuted = s * from; });
        tasks_.leaves_to_roots([&](const TreeTasks::Task& task) {
          for (Index s = task.first; s <= task.last; ++s) forward<T, n>(panels, ldlt, s);
        });
      } else {
        const std::int64_t given_from = unknowns - std::int64_t(b) * plan_->schur_nodes;
        const double* begin = x.data;
        for_nodes([&](double& permuted, double& from, double s) {
          const std::int64_t offset = &permuted - begin;
          const std::int64_t row = count_ <= dense::few ? offset % unknowns : offset / x.step;
          permuted = row >= given_from ? from / s : 0.0;
        });
      }
      tasks_.roots_to_leaves([&](const TreeTasks::Task& task) {
        for (Index s = task.last; s >= task.first; --s) {
          if (pass == Pass::backward_from_schur && s == last) {
            // Given, not to be solved for; below, its front is read in place of x.
            copy_rows(n * plan_->supernodes[at(s)].pivots, x.from_row(n * plan_->supernodes[at(s)].first),
                      values_of(s));
          } else {
            backward<T, n>(panels, ldlt, s);
          }
        }
      });
    };
    if (b == 3) {
      sweep(std::integral_constant<int, 3>{});
    } else {
      sweep(std::integral_constant<int, 1>{});
    }
    for_nodes([](double& permuted, double& to, double s) { to = s * permuted; });
  }
}

void TreeSolve::solve(const FactorNumbers& numbers, Eigen::Ref<Eigen::MatrixXd> b) {
  run(numbers.panels.get(), numbers.kind == Factorisation::ldlt ? &numbers : nullptr, b, Pass::both);
}

void TreeSolve::solve(const float* panels, Eigen::Ref<Eigen::MatrixXd> b) { run(panels, nullptr, b, Pass::both); }

void TreeSolve::condense(const FactorNumbers& numbers, Eigen::Ref<Eigen::MatrixXd> X) {
  assert(plan_->schur_nodes > 0);
  run(numbers.panels.get(), numbers.kind == Factorisation::ldlt ? &numbers : nullptr, X, Pass::backward_from_schur);
}

}  // namespace pliant
