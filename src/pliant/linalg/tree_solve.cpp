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

/// Position of (row, right-hand side) in either layout.
template <class T>
std::int64_t place(const Values<T>& v, std::int64_t row, Index q) {
  return v.count <= dense::few ? row + q * v.step : row * v.step + q;
}

/// op(from[k], to[map[k]]) for all k, in nodes of b rows; runs[k] rows from k on have consecutive places.
template <int b, class T, class Op>
void for_node_rows(const Values<T>& from, const Values<T>& to, std::span<const Index> map, std::span<const Index> runs,
                   Op&& op) {
  const auto n = static_cast<Index>(map.size());
  const bool few = from.count <= dense::few;
  for (Index i = 0; i < n; i += runs[at(i)]) {
    const std::int64_t rows = std::int64_t(b) * runs[at(i)];
    for (Index q = 0; q < (few ? from.count : 1); ++q) {
      T* f = from.data + place(from, std::int64_t(b) * i, q);
      T* t = to.data + place(to, std::int64_t(b) * map[at(i)], q);
      const std::int64_t count = few ? rows : rows * from.step;
      for (std::int64_t k = 0; k < count; ++k) op(f[k], t[k]);
    }
  }
}

/// The same where consecutive rows have places anywhere.
template <int b, class T, class Op>
void for_node_rows(const Values<T>& from, const Values<T>& to, std::span<const Index> map, Op&& op) {
  for (Index i = 0; i < static_cast<Index>(map.size()); ++i) {
    for (int c = 0; c < b; ++c) {
      for (Index q = 0; q < from.count; ++q)
        op(from.data[place(from, std::int64_t(b) * i + c, q)], to.data[place(to, std::int64_t(b) * map[at(i)] + c, q)]);
    }
  }
}

template <class T>
void copy_rows(Index rows, const Values<T>& from, const Values<T>& to) {
  if (from.count <= dense::few) {
    for (Index q = 0; q < from.count; ++q) std::copy_n(from.data + q * from.step, rows, to.data + q * to.step);
  } else {
    std::copy_n(from.data, rows * from.step, to.data);
  }
}

/// The pivots of an L D L^T: to[i] = from[order[i]], or back: to[order[i]] = from[i].
enum class Direction { to_pivots, back };
template <class T>
void permute_rows(Index rows, const Index* order, Direction direction, const Values<T>& from, const Values<T>& to) {
  for (Index i = 0; i < rows; ++i) {
    const Index source = direction == Direction::back ? i : order[i],
                target = direction == Direction::back ? order[i] : i;
    for (Index q = 0; q < from.count; ++q) to.data[place(to, target, q)] = from.data[place(from, source, q)];
  }
}

/// Values become D^{-1} times them.
void divide_by_pivots(Index pivots, const double* panel, std::int64_t stride, const double* off_diagonal,
                      const Values<double>& v) {
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

template <class T>
void clear_rows(std::int64_t rows, const Values<T>& v) {
  if (v.count <= dense::few) {
    for (Index q = 0; q < v.count; ++q) std::fill_n(v.data + q * v.step, rows, T{0});
  } else {
    std::fill_n(v.data, rows * v.step, T{0});
  }
}

/// L^{-1} with one panel, and the rows below lose their part. Values have `stride` rows where right-hand sides are few.
template <class T>
void solve_panel(Index pivots, Index front_rows, const T* panel, std::int64_t stride, dense::Diagonal diagonal,
                 bool parallel, const Values<T>& values) {
  if (values.count <= dense::few) {
    const dense::PanelOfFew<T> few{panel, stride, diagonal, values};
    const auto rows = static_cast<Index>(stride);
    Index j = 0;
    if (parallel) {
      for (; j + step_columns <= pivots; j += step_columns) {
        const Index below = j + step_columns, first_tile = below / tile_rows;
        few.forward({j, below}, below);
        for_tiles(true, (rows + tile_rows - 1) / tile_rows - first_tile, 1, [&](Index t, Index) {
          const Index begin = (first_tile + t) * tile_rows;
          few.apply({j, below}, {std::max(below, begin), std::min(rows, begin + tile_rows)});
        });
      }
    }
    few.forward({j, pivots}, rows);
    return;
  }
  for (Index j = 0; j < pivots; j += step_columns) {
    const Index width = std::min(step_columns, pivots - j), below = j + width;
    const T* L = panel + j * stride;
    dense::solve_lower(width, L + j, stride, diagonal, values.from_row(j));
    for_tiles(parallel, front_rows - below, tile_rows, [&](Index begin, Index end) {
      dense::subtract_apply(end - begin, width, L + below + begin, stride, values.from_row(j),
                            values.from_row(below + begin));
    });
  }
}

/// L^{-T} with one panel, after the part of the rows below.
template <class T>
void solve_panel_transposed(Index pivots, Index front_rows, const T* panel, std::int64_t stride,
                            dense::Diagonal diagonal, bool parallel, const Values<T>& values) {
  if (values.count <= dense::few) {
    const dense::PanelOfFew<T> few{panel, stride, diagonal, values};
    const auto rows = static_cast<Index>(stride);
    const Index whole_steps = parallel ? pivots / step_columns * step_columns : 0;
    few.backward({whole_steps, pivots}, rows);
    for (Index j = whole_steps - step_columns; j >= 0; j -= step_columns) {
      const Index below = j + step_columns;
      for_tiles(true, step_columns, tile_columns, [&](Index begin, Index end) {
        few.apply_transposed({j + begin, j + end}, {below, rows});
      });
      few.backward({j, below}, below);
    }
    return;
  }
  for (Index j = (pivots - 1) / step_columns * step_columns; j >= 0; j -= step_columns) {
    const Index width = std::min(step_columns, pivots - j), below = j + width;
    const T* L = panel + j * stride;
    if (below < front_rows) {
      for_tiles(parallel, width, tile_columns, [&](Index begin, Index end) {
        dense::subtract_apply_transposed(front_rows - below, end - begin, L + below + begin * stride, stride,
                                         values.from_row(below), values.from_row(j + begin));
      });
    }
    dense::solve_lower_transposed(width, L + j, stride, diagonal, values.from_row(j));
  }
}

}  // namespace

TreeSolve::TreeSolve(std::shared_ptr<const SymbolicFactor> plan, TreeTasks& tasks)
    : plan_(std::move(plan)), tasks_(tasks) {
  work_start_.reserve(plan_->supernodes.size());
  for (const Supernode& node : plan_->supernodes) {
    work_start_.push_back(work_rows_);
    work_rows_ += node.stride;
  }
}

template <class T>
Values<T> TreeSolve::values_of(Index s) {
  const Supernode& node = plan_->supernodes[at(s)];
  return {static_cast<T*>(work_) + work_start_[at(s)] * count_, count_, count_ <= dense::few ? node.stride : count_};
}

template <class T>
Values<T> TreeSolve::unknowns() {
  const std::int64_t rows = std::int64_t(plan_->block_size) * plan_->nodes;
  return {static_cast<T*>(work_) + count_ * work_rows_, count_, count_ <= dense::few ? rows : count_};
}

template <class T, int b>
void TreeSolve::forward(const T* panels, const FactorNumbers* ldlt, Index s) {
  const Supernode& node = plan_->supernodes[at(s)];
  const Index pivots = b * node.pivots, front_rows = b * (node.pivots + node.rows);
  const Values<T> values = values_of<T>(s), x = unknowns<T>().from_row(b * node.first);
  copy_rows(pivots, x, values);
  clear_rows(node.stride - pivots, values.from_row(pivots));
  for (Index k : plan_->children_of(node)) {
    const Supernode& child = plan_->supernodes[at(k)];
    for_node_rows<b>(values_of<T>(k).from_row(b * child.pivots), values, plan_->parent_rows_of(child),
                     plan_->runs_of(child), [](T from, T& to) { to += from; });
  }
  const T* panel = panels + node.panel;
  const std::size_t first = at(std::int64_t(b) * node.first);
  if (ldlt) {
    copy_rows(pivots, values, x);  // where nothing is kept meanwhile
    permute_rows(pivots, ldlt->pivot_order.data() + first, Direction::to_pivots, x, values);
  }
  const bool parallel = double(node.stride) * pivots >= least_parallel_panel;
  solve_panel(pivots, front_rows, panel, node.stride, ldlt ? dense::Diagonal::unit : dense::Diagonal::stored, parallel,
              values);
  if constexpr (std::is_same_v<T, double>) {
    if (ldlt) divide_by_pivots(pivots, panel, node.stride, ldlt->off_diagonal.data() + first, values);
  }
  copy_rows(pivots, values, x);
}

template <class T, int b>
void TreeSolve::backward(const T* panels, const FactorNumbers* ldlt, Index s) {
  const Supernode& node = plan_->supernodes[at(s)];
  const Index pivots = b * node.pivots, front_rows = b * (node.pivots + node.rows);
  const Values<T> values = values_of<T>(s), all = unknowns<T>(), x = all.from_row(b * node.first);
  copy_rows(pivots, x, values);
  if (node.parent >= 0) {
    const Values<T> below = values.from_row(pivots);
    const auto take = [](T& from, T& known) { from = known; };
    if (ldlt) {  // whose pivots are permuted in the parent's front
      for_node_rows<b>(below, all, plan_->rows_of(node), take);
    } else {  // the parent's front holds these rows, close together
      for_node_rows<b>(below, values_of<T>(node.parent), plan_->parent_rows_of(node), plan_->runs_of(node), take);
    }
  }
  clear_rows(count_ <= dense::few ? node.stride - front_rows : 0, values.from_row(front_rows));
  const bool parallel = double(node.stride) * pivots >= least_parallel_panel;
  solve_panel_transposed(pivots, front_rows, panels + node.panel, node.stride,
                         ldlt ? dense::Diagonal::unit : dense::Diagonal::stored, parallel, values);
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
  if (const std::int64_t needed = padded(rhs.cols()) * (work_rows_ + unknowns); needed > memory_size_) {
    memory_size_ = 0;
    memory_ = make_aligned_array(at(needed));
    memory_size_ = needed;
  }
  work_ = memory_.get();
  const auto last = static_cast<Index>(plan_->supernodes.size()) - 1;
  for (Eigen::Index first = 0; first < rhs.cols(); first += most_columns) {
    const auto columns = static_cast<Index>(std::min<Eigen::Index>(most_columns, rhs.cols() - first));
    count_ = padded(columns);
    const Values<T> x = this->unknowns<T>();
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
        for_nodes([](T& permuted, double& from, double s) { permuted = static_cast<T>(s * from); });
        tasks_.leaves_to_roots([&](const TreeTasks::Task& task) {
          for (Index s = task.first; s <= task.last; ++s) forward<T, n>(panels, ldlt, s);
        });
      } else {
        const std::int64_t given_from = unknowns - std::int64_t(b) * plan_->schur_nodes;
        const T* begin = x.data;
        for_nodes([&](T& permuted, double& from, double s) {
          const std::int64_t offset = &permuted - begin;
          const std::int64_t row = count_ <= dense::few ? offset % unknowns : offset / x.step;
          permuted = row >= given_from ? static_cast<T>(from / s) : T{0};
        });
      }
      tasks_.roots_to_leaves([&](const TreeTasks::Task& task) {
        for (Index s = task.last; s >= task.first; --s) {
          if (pass == Pass::backward_from_schur && s == last) {
            // Given, not to be solved for; below, its front is read in place of x.
            copy_rows(n * plan_->supernodes[at(s)].pivots, x.from_row(n * plan_->supernodes[at(s)].first),
                      values_of<T>(s));
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
    for_nodes([](T& permuted, double& to, double s) { to = s * static_cast<double>(permuted); });
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
