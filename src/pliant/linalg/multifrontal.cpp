// The multifrontal method (Duff and Reid 1983; Liu, "The multifrontal method for sparse matrix solution", 1992).
//
// A front is assembled from the matrix' own blocks and the updates of its children, its pivots are eliminated densely,
// and what remains is the update for its parent. Against the left-looking supernodal method (CHOLMOD) this moves more
// numbers, but all arithmetic is a few large dense products per front, and a subtree depends on nothing outside it:
// that makes it the method that runs in parallel over the tree and refactors a part of it.
//
// Memory. Panels are the factor itself, one array laid out in the analysis. Updates are square arrays with stride =
// rows. Inside a subtree that is one task they live on a stack: a front takes its place *before* its children run, each
// child is added into it as soon as it is finished and is popped, so the child is still in the cache and the stack is
// last-in first-out without a move. The price is the sum of updates along one path to a leaf instead of the sum over
// siblings, and in a nested dissection tree these shrink geometrically. Above the subtrees, an update is a buffer of
// its own that lives until its parent is assembled. Stacks and buffers come from a pool kept between factorisations.
//
// Parallelism. TreeTasks runs subtrees and upper fronts; where few fronts are left, large ones are split into tiles by
// rows and columns. Tiles have fixed sizes, each is computed by one thread in one order, and children are added in a
// fixed order: same bits for any number of threads.
//
// Dense part, per front with k pivots and r rows below: left-looking over blocks of columns of the panel (each block
// receives all earlier ones in a single product), then one symmetric product for the whole update.
#include "pliant/linalg/multifrontal.hpp"

#include <oneapi/tbb/task_arena.h>

#include <atomic>

#include "pliant/linalg/aligned_array.hpp"
#include "pliant/linalg/buffer_pool.hpp"
#include "pliant/linalg/dense_kernels.hpp"
#include "pliant/linalg/tree_tasks.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {
namespace {

using Supernode = SymbolicFactor::Supernode;

/// Columns of a panel eliminated at a time.
constexpr Index panel_block = 96;
/// Rows and columns of a tile of a large front; whole nodes.
constexpr Index tile = 240;
/// Fronts with less work stay on their thread.
constexpr double least_parallel_flops = 2e7;
/// Right-hand sides solved together: as many as keep a front's rows of them in cache.
constexpr Index solve_block = 32;
/// Columns of a panel in one step of the triangular solution, and rows per tile, where it is split among threads.
constexpr Index solve_columns = 256;
constexpr Index solve_rows = 512;
constexpr double least_parallel_panel = 3e5;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// for_chunks, on the calling thread alone unless `parallel`. Isolated: a thread that waits for a tile must not begin a
/// whole subtree meanwhile.
template <class Body>
void for_tiles(bool parallel, Index count, Index size, Body&& body) {
  if (parallel) {
    tbb::this_task_arena::isolate([&] { for_chunks(count, size, body); });
  } else {
    for (Index begin = 0; begin < count; begin += size) body(begin, std::min(count, begin + size));
  }
}

/// A front in scalars.
struct Front {
  Index pivots;
  Index rows;
  double* panel;
  std::int64_t stride;
  double* update;  ///< rows x rows, stride = rows
  bool parallel;
};

/// Turns the panel into factor. False when a pivot is not positive.
bool eliminate(const Front& f) {
  const Index front_rows = f.pivots + f.rows;
  for (Index j = 0; j < f.pivots; j += panel_block) {
    const Index width = std::min(panel_block, f.pivots - j);
    double* block = f.panel + j * f.stride;
    const double* left_of_block = f.panel + j;
    dense::subtract_square(width, j, left_of_block, f.stride, block + j, f.stride);
    if (!dense::cholesky(width, block + j, f.stride)) return false;
    const Index below = j + width;
    for_tiles(f.parallel, front_rows - below, tile, [&](Index begin, Index end) {
      double* rows = block + below + begin;
      dense::subtract_product(end - begin, width, j, f.panel + below + begin, f.stride, left_of_block, f.stride, rows,
                              f.stride);
      dense::solve_right_transposed(end - begin, width, block + j, f.stride, rows, f.stride);
    });
  }
  return true;
}

/// The update, tile by tile of its lower triangle. prepare(rows, columns) makes a tile ready to be subtracted from,
/// just before: it is then in the cache.
template <class Prepare>
void subtract_from_update(const Front& f, Prepare&& prepare) {
  const double* L = f.panel + f.pivots;
  const Index tiles = (f.rows + tile - 1) / tile;
  for_tiles(f.parallel, tiles * (tiles + 1) / 2, 1, [&](Index t, Index) {
    Index column = 0, left = t;
    while (left >= tiles - column) left -= tiles - column++;
    const Index i = (column + left) * tile, j = column * tile;
    const Range rows{i, std::min(f.rows, i + tile)}, columns{j, std::min(f.rows, j + tile)};
    prepare(rows, columns);
    double* target = f.update + i + std::int64_t(j) * f.rows;
    if (i == j) {
      dense::subtract_square(columns.size(), f.pivots, L + j, f.stride, target, f.rows);
    } else {
      dense::subtract_product(rows.size(), columns.size(), f.pivots, L + i, f.stride, L + j, f.stride, target, f.rows);
    }
  });
}

/// The block size as a compile-time constant: inner loops over a node unroll.
template <class Body>
decltype(auto) with_block_size(int block_size, Body&& body) {
  return block_size == 3 ? body(std::integral_constant<int, 3>{}) : body(std::integral_constant<int, 1>{});
}

/// Adds the part of the child's update that belongs in the given node rows and columns of the parent's front. `to` are
/// the child's rows as rows of the parent's front; they come in runs of consecutive ones, mostly long, since they are
/// pieces of few separators.
template <int b>
void extend_add(std::span<const Index> to, std::span<const Index> runs, Range rows, Range columns,
                const double* __restrict child, const Front& parent) {
  const auto place = [&](Index row) {
    return static_cast<Index>(std::lower_bound(to.begin(), to.end(), row) - to.begin());
  };
  const Index begin = place(columns.begin), end = place(columns.end);
  const Index row_begin = place(rows.begin), row_end = place(rows.end);
  const std::int64_t child_stride = std::int64_t(b) * static_cast<std::int64_t>(to.size());
  for (Index j = begin; j < end; ++j) {
    const std::int64_t target_column = std::int64_t(b) * to[at(j)];
    const bool to_panel = target_column < parent.pivots;
    const std::int64_t stride = to_panel ? parent.stride : parent.rows;
    const std::int64_t row_shift = to_panel ? 0 : parent.pivots;
    double* const target =
        to_panel ? parent.panel + target_column * stride : parent.update + (target_column - parent.pivots) * stride;
    for (int c = 0; c < b; ++c) {
      double* __restrict t = target + c * stride;
      const double* s = child + (b * j + c) * child_stride;
      for (Index i = std::max(j, row_begin), length; i < row_end; i += length) {
        length = std::min(runs[at(i)], row_end - i);
        const std::int64_t from = b * i, shift = std::int64_t(b) * to[at(i)] - row_shift - from;
        for (std::int64_t r = from; r < from + b * length; ++r) t[r + shift] += s[r];
      }
    }
  }
}

/// Zeroes node columns of the panel, from their diagonal blocks down.
template <int b>
void clear_panel(const Front& front, Range columns) {
  for (Index j = b * columns.begin; j < b * columns.end; ++j) {
    const Index top = j / b * b;
    std::fill_n(front.panel + top + j * front.stride, front.pivots + front.rows - top, 0.0);
  }
}

template <int b>
void add_entries(std::span<const SymbolicFactor::Entry> entries, const BlockMatrix& A, const Front& front) {
  for (const auto& e : entries) {
    const double* a = A.block(e.block);
    double* target = front.panel + std::int64_t(b) * e.row + std::int64_t(b) * e.column * front.stride;
    for (int c = 0; c < b; ++c) {
      for (int r = 0; r < b; ++r) target[r + c * front.stride] += e.transposed ? a[c + r * b] : a[r + c * b];
    }
  }
}

}  // namespace

struct MultifrontalCholesky::Implementation {
  std::shared_ptr<const SymbolicFactor> plan;
  TreeTasks tasks;
  std::vector<std::size_t> stack_size;  ///< of each supernode's subtree without its own update, numbers
  AlignedArray panels;
  BufferPool pool;
  std::vector<BufferPool::Buffer> updates;  ///< of the tasks' last supernodes
  std::atomic<bool> stopped = false;

  std::vector<std::int64_t> work_start;  ///< of each supernode's front rows in `work`, for one right-hand side
  std::int64_t work_rows = 0;
  AlignedArray work;
  std::int64_t work_size = 0;

  explicit Implementation(std::shared_ptr<const SymbolicFactor> symbolic) : plan(std::move(symbolic)), tasks(*plan) {
    const std::size_t count = plan->supernodes.size();
    stack_size.assign(count, 0);
    work_start.resize(count);
    updates.resize(count);
    for (std::size_t s = 0; s < count; ++s) {
      const Supernode& node = plan->supernodes[s];
      work_start[s] = work_rows;
      work_rows += std::int64_t(plan->block_size) * (node.pivots + node.rows);
      if (node.parent >= 0) {
        std::size_t& up = stack_size[at(node.parent)];
        up = std::max(up, stack_size[s] + update_size(node));
      }
    }
  }

  std::size_t update_size(const Supernode& s) const {
    const std::size_t rows = at(plan->block_size) * at(s.rows);
    return rows * rows;
  }

  Front front_of(Index s, double* update) const {
    const Supernode& node = plan->supernodes[at(s)];
    return {
        plan->block_size * node.pivots,    plan->block_size * node.rows, panels.get() + node.panel, node.stride, update,
        node.flops >= least_parallel_flops};
  }

  /// A subtree whose root's update goes to `update`; `stack` is free memory of stack_size[s].
  template <int b>
  void factor_subtree(const BlockMatrix& A, Index s, double* update, double* stack) {
    const Supernode& node = plan->supernodes[at(s)];
    const Front front = front_of(s, update);
    const Range all{0, node.pivots + node.rows};
    clear_panel<b>(front, {0, node.pivots});
    for (Index j = 0; j < front.rows; ++j) std::fill_n(update + j + std::int64_t(j) * front.rows, front.rows - j, 0.0);
    add_entries<b>(plan->entries_of(node), A, front);
    for (Index c : plan->children_of(node)) {
      const Supernode& child = plan->supernodes[at(c)];
      factor_subtree<b>(A, c, stack, stack + update_size(child));
      if (stopped.load(std::memory_order_relaxed)) return;
      extend_add<b>(plan->parent_rows_of(child), plan->runs_of(child), all, all, stack, front);
    }
    if (!eliminate(front)) return stopped.store(true, std::memory_order_relaxed);
    subtract_from_update(front, [](Range, Range) {});
  }

  /// A front whose children are finished tasks. Each number is assembled right before it is computed with.
  template <int b>
  void factor_upper(const BlockMatrix& A, Index s) {
    const Supernode& node = plan->supernodes[at(s)];
    updates[at(s)] = pool.take(update_size(node));
    const Front front = front_of(s, updates[at(s)].data());
    const auto add_children = [&](Range rows, Range columns) {
      for (Index c : plan->children_of(node)) {
        const Supernode& child = plan->supernodes[at(c)];
        extend_add<b>(plan->parent_rows_of(child), plan->runs_of(child), rows, columns, updates[at(c)].data(), front);
      }
    };
    for_tiles(front.parallel, node.pivots, tile / b, [&](Index begin, Index end) {
      clear_panel<b>(front, {begin, end});
      add_children({begin, node.pivots + node.rows}, {begin, end});
    });
    add_entries<b>(plan->entries_of(node), A, front);
    if (!eliminate(front)) return stopped.store(true, std::memory_order_relaxed);
    subtract_from_update(front, [&](Range rows, Range columns) {
      for (Index j = columns.begin; j < columns.end; ++j) {
        const Index i = std::max(j, rows.begin);
        std::fill_n(front.update + i + std::int64_t(j) * front.rows, rows.end - i, 0.0);
      }
      const Index pivots = node.pivots;
      add_children({pivots + rows.begin / b, pivots + rows.end / b},
                   {pivots + columns.begin / b, pivots + columns.end / b});
    });
    for (Index c : plan->children_of(node)) pool.give_back(std::move(updates[at(c)]));
  }

  template <int b>
  void factor_task(const BlockMatrix& A, const TreeTasks::Task& task) {
    if (stopped.load(std::memory_order_relaxed)) return;
    const auto& supernodes = plan->supernodes;
    if (supernodes[at(task.last)].first_descendant < task.first) return factor_upper<b>(A, task.last);
    // A task may hold several small trees, one after the other.
    std::vector<Index> roots;
    std::size_t stack_numbers = 0;
    for (Index s = task.last; s >= task.first; s = supernodes[at(s)].first_descendant - 1) {
      roots.push_back(s);
      stack_numbers = std::max(stack_numbers, stack_size[at(s)]);
    }
    BufferPool::Buffer stack = pool.take(stack_numbers);
    for (auto s = roots.rbegin(); s != roots.rend(); ++s) {
      updates[at(*s)] = pool.take(update_size(supernodes[at(*s)]));
      factor_subtree<b>(A, *s, updates[at(*s)].data(), stack.data());
    }
    pool.give_back(std::move(stack));
  }

  FactorStatus factor(const BlockMatrix& A) {
    if (!panels) panels = make_aligned_array(at(plan->panel_numbers));
    stopped = false;
    with_block_size(plan->block_size, [&](auto b) {
      tasks.leaves_to_roots([&](const TreeTasks::Task& task) { factor_task<b>(A, task); });
    });
    for (auto& update : updates) pool.give_back(std::move(update));  // left over where the work was stopped
    return stopped ? FactorStatus::not_positive_definite : FactorStatus::ok;
  }

  /// Forward: a front's values are its pivots' right-hand side plus what its children pass on; below the pivots it
  /// passes on to its parent. `values` is front rows x columns, `x` all unknowns by position.
  template <int b>
  void forward(Index s, Index columns, double* x) {
    const Supernode& node = plan->supernodes[at(s)];
    const Front f = front_of(s, nullptr);
    const Index front_rows = f.pivots + f.rows;
    double* values = work.get() + work_start[at(s)] * columns;
    const std::int64_t x_stride = std::int64_t(b) * plan->nodes;
    double* x_pivots = x + std::int64_t(b) * node.first;
    for (Index c = 0; c < columns; ++c) {
      double* v = values + std::int64_t(c) * front_rows;
      std::copy_n(x_pivots + c * x_stride, f.pivots, v);
      std::fill_n(v + f.pivots, f.rows, 0.0);
    }
    for (Index k : plan->children_of(node)) {
      const Supernode& child = plan->supernodes[at(k)];
      const Index child_rows = b * (child.pivots + child.rows);
      const auto to = plan->parent_rows_of(child);
      for (Index c = 0; c < columns; ++c) {
        const double* from = work.get() + work_start[at(k)] * columns + std::int64_t(c) * child_rows + b * child.pivots;
        double* v = values + std::int64_t(c) * front_rows;
        for (Index i = 0; i < child.rows; ++i) {
          for (int d = 0; d < b; ++d) v[b * to[at(i)] + d] += from[b * i + d];
        }
      }
    }
    const bool parallel = double(f.stride) * f.pivots >= least_parallel_panel;
    for (Index j = 0; j < f.pivots; j += solve_columns) {
      const Index width = std::min(solve_columns, f.pivots - j), below = j + width;
      const double* L = f.panel + std::int64_t(j) * f.stride;
      dense::solve_lower(width, columns, L + j, f.stride, values + j, front_rows);
      for_tiles(parallel, front_rows - below, solve_rows, [&](Index begin, Index end) {
        dense::subtract_apply(end - begin, columns, width, L + below + begin, f.stride, values + j, front_rows,
                              values + below + begin, front_rows);
      });
    }
    for (Index c = 0; c < columns; ++c) {
      std::copy_n(values + std::int64_t(c) * front_rows, f.pivots, x_pivots + c * x_stride);
    }
  }

  /// Backward: the rows below are known.
  template <int b>
  void backward(Index s, Index columns, double* x) {
    const Supernode& node = plan->supernodes[at(s)];
    const Front f = front_of(s, nullptr);
    const Index front_rows = f.pivots + f.rows;
    double* values = work.get() + work_start[at(s)] * columns;
    const std::int64_t x_stride = std::int64_t(b) * plan->nodes;
    double* x_pivots = x + std::int64_t(b) * node.first;
    const auto rows = plan->rows_of(node);
    for (Index c = 0; c < columns; ++c) {
      double* v = values + std::int64_t(c) * front_rows;
      std::copy_n(x_pivots + c * x_stride, f.pivots, v);
      const double* from = x + c * x_stride;
      for (Index i = 0; i < node.rows; ++i) {
        for (int d = 0; d < b; ++d) v[f.pivots + b * i + d] = from[std::int64_t(b) * rows[at(i)] + d];
      }
    }
    const bool parallel = double(f.stride) * f.pivots >= least_parallel_panel;
    for (Index j = (f.pivots - 1) / solve_columns * solve_columns; j >= 0; j -= solve_columns) {
      const Index width = std::min(solve_columns, f.pivots - j), below = j + width;
      const double* L = f.panel + std::int64_t(j) * f.stride;
      for_tiles(parallel, width, solve_columns / 4, [&](Index begin, Index end) {
        dense::subtract_apply_transposed(end - begin, columns, front_rows - below, L + below + begin * f.stride,
                                         f.stride, values + below, front_rows, values + j + begin, front_rows);
      });
      dense::solve_lower_transposed(width, columns, L + j, f.stride, values + j, front_rows);
    }
    for (Index c = 0; c < columns; ++c) {
      std::copy_n(values + std::int64_t(c) * front_rows, f.pivots, x_pivots + c * x_stride);
    }
  }

  template <int b>
  void solve_columns_of(double* x, Index columns) {
    tasks.leaves_to_roots([&](const TreeTasks::Task& task) {
      for (Index s = task.first; s <= task.last; ++s) forward<b>(s, columns, x);
    });
    tasks.roots_to_leaves([&](const TreeTasks::Task& task) {
      for (Index s = task.last; s >= task.first; --s) backward<b>(s, columns, x);
    });
  }

  void solve(Eigen::Ref<Eigen::MatrixXd> rhs) {
    const std::int64_t unknowns = std::int64_t(plan->block_size) * plan->nodes;
    const auto most = std::min<Eigen::Index>(rhs.cols(), solve_block);
    if (const std::int64_t needed = most * (work_rows + unknowns); needed > work_size) {
      work = make_aligned_array(at(needed));
      work_size = needed;
    }
    double* x = work.get() + most * work_rows;
    with_block_size(plan->block_size, [&](auto b) {
      for (Eigen::Index first = 0; first < rhs.cols(); first += solve_block) {
        const auto columns = static_cast<Index>(std::min<Eigen::Index>(solve_block, rhs.cols() - first));
        const auto for_nodes = [&](auto&& move) {
          for (Index c = 0; c < columns; ++c) {
            double* given = &rhs(0, first + c);
            double* permuted = x + c * unknowns;
            for_chunks(plan->nodes, 4096, [&](Index begin, Index end) {
              for (Index k = begin; k < end; ++k) {
                for (int d = 0; d < b; ++d) move(permuted[b * k + d], given[std::int64_t(b) * plan->order[at(k)] + d]);
              }
            });
          }
        };
        for_nodes([](double& permuted, double& given) { permuted = given; });
        solve_columns_of<b>(x, columns);
        for_nodes([](double& permuted, double& given) { given = permuted; });
      }
    });
  }
};

MultifrontalCholesky::MultifrontalCholesky(std::shared_ptr<const SymbolicFactor> plan)
    : implementation_(std::make_unique<Implementation>(std::move(plan))) {
  dense::use_one_thread();
}
MultifrontalCholesky::~MultifrontalCholesky() = default;

FactorStatus MultifrontalCholesky::factor(const BlockMatrix& A) {
  try {
    return implementation_->factor(A);
  } catch (const std::bad_alloc&) {
    return FactorStatus::out_of_memory;
  }
}

void MultifrontalCholesky::solve(Eigen::Ref<Eigen::MatrixXd> b) { implementation_->solve(b); }

}  // namespace pliant
