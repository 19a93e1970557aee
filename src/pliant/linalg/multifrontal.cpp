// The multifrontal method (Duff and Reid 1983; Liu, "The multifrontal method for sparse matrix solution", 1992).
//
// A front is assembled from the matrix' own blocks and the updates of its children, its pivots are eliminated densely,
// and what remains is the update for its parent. Against the left-looking supernodal method (CHOLMOD) this moves more
// numbers, but all arithmetic is a few large dense products per front, and a subtree depends on nothing outside it:
// that makes it the method that runs in parallel over the tree and refactors a part of it.
//
// Memory. Panels are the factor itself, one array laid out in the analysis. Inside a subtree that is one task, updates
// live on a stack: a front takes its place *before* its children run, each child is added into it as soon as it is
// finished and is popped, so the child is still in the cache and the stack is last-in first-out without a move. The
// price is the sum of updates along one path to a leaf instead of the sum over siblings, and in a nested dissection
// tree these shrink geometrically. Above the subtrees, an update is a buffer of its own that lives until its parent is
// assembled. Stacks and buffers come from a pool kept between factorisations. When updates are kept for refactor, each
// has a place of its own instead.
//
// Parallelism. TreeTasks runs subtrees and upper fronts; where few fronts are left, large ones are split into tiles.
// Every number is the sum of its matrix entry and its children's in their order, however the work is split and whether
// it is all of it or a part: same bits for any number of threads, and from refactor as from factor.
#include "pliant/linalg/multifrontal.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

#include "pliant/base/memory.hpp"
#include "pliant/base/stopwatch.hpp"
#include "pliant/linalg/blas.hpp"
#include "pliant/linalg/extend_add.hpp"
#include "pliant/linalg/tiles.hpp"
#include "pliant/linalg/update_block.hpp"

namespace pliant {
namespace {

using Supernode = SymbolicFactor::Supernode;

/// Fronts with less work stay on their thread.
constexpr double least_parallel_flops = 2e7;
/// Node columns of a panel assembled at a time where a front is split among threads.
constexpr Index assembly_columns = 32;

/// Zeroes node columns of the panel, from their diagonal blocks down, with the padding that solutions read.
void clear_panel(int b, const Front& front, Range columns) {
  for (Index j = b * columns.begin; j < b * columns.end; ++j) {
    const Index top = j / b * b;
    std::fill_n(front.panel + top + j * front.stride, front.stride - top, 0.0);
  }
}

/// Zeroes a tile of the update; above the diagonal only within diagonal blocks.
void clear_update(int b, const Front& front, Range rows, Range columns) {
  for (Index j = columns.begin; j < columns.end; ++j) {
    const Index i = std::max(j / b * b, rows.begin);
    if (i < rows.end) std::fill_n(update_block::column(front.update, front.rows, j) + i, rows.end - i, 0.0);
  }
}

template <int b>
void add_entries(std::span<const SymbolicFactor::Entry> entries, const BlockMatrix& A, const Front& front,
                 const double* scale_of_pivots, const double* scale, std::span<const Index> rows, Index pivots) {
  for (const auto& e : entries) {
    const double* a = A.block(e.block);
    double* target = front.panel + std::int64_t(b) * e.row + std::int64_t(b) * e.column * front.stride;
    const double* row_scale = nullptr;
    if (scale)
      row_scale = e.row < pivots ? scale_of_pivots + b * e.row : scale + std::int64_t(b) * rows[at(e.row - pivots)];
    for (int c = 0; c < b; ++c) {
      for (int r = 0; r < b; ++r) {
        double entry = e.transposed ? a[c + r * b] : a[r + c * b];
        if (scale) entry *= row_scale[r] * scale_of_pivots[b * e.column + c];
        target[r + c * front.stride] += entry;
      }
    }
  }
}

/// Leaves the seconds of its own lifetime.
class LastTime {
 public:
  explicit LastTime(float& seconds) : seconds_(seconds), begin_(stage_seconds()) {}
  ~LastTime() { seconds_ = static_cast<float>(stage_seconds() - begin_); }
  LastTime(const LastTime&) = delete;
  LastTime& operator=(const LastTime&) = delete;

 private:
  float& seconds_;
  double begin_;
};

}  // namespace

Multifrontal::Multifrontal(std::shared_ptr<const SymbolicFactor> plan) : plan_(std::move(plan)), tasks_(*plan_) {
  const std::size_t count = plan_->supernodes.size();
  stack_size_.assign(count, 0);
  updates_.resize(count);
  marked_.assign(count, 1);
  counts_.resize(count);
  seconds_.assign(count, 0.0F);
  for (Index s = 0; s < static_cast<Index>(count); ++s) {
    const Index parent = plan_->supernodes[at(s)].parent;
    if (parent >= 0) {
      std::size_t& up = stack_size_[at(parent)];
      up = std::max(up, stack_size_[at(s)] + update_size(s));
    }
  }
}

std::size_t Multifrontal::update_size(Index s) const {
  return (update_block::size(plan_->block_size * plan_->supernodes[at(s)].rows) + 7) / 8 * 8;
}

std::size_t Multifrontal::update_numbers() const {
  std::size_t sum = 0;
  for (Index s = 0; s < static_cast<Index>(plan_->supernodes.size()); ++s) sum += update_size(s);
  return sum;
}

std::int64_t Multifrontal::needed_bytes() const {
  std::size_t numbers = numbers_.panels ? 0 : at(plan_->panel_numbers), stack = 0;
  if (keep_) {
    if (!kept_) numbers += update_numbers();
  } else if (!numbers_.panels) {  // the pool has them otherwise
    for (std::size_t size : stack_size_) stack = std::max(stack, size);
  }
  return static_cast<std::int64_t>((numbers + stack) * sizeof(double));
}

std::size_t Multifrontal::workspace_size(Index s) const {
  const Supernode& node = plan_->supernodes[at(s)];
  const Index pivots = plan_->block_size * node.pivots, rows = plan_->block_size * node.rows;
  return numbers_.kind == Factorisation::llt ? llt_workspace(pivots, rows) : ldlt_workspace(pivots, rows);
}

Front Multifrontal::front_of(Index s, double* update) const {
  const Supernode& node = plan_->supernodes[at(s)];
  return {plan_->block_size * node.pivots,
          plan_->block_size * node.rows,
          numbers_.panels.get() + node.panel,
          node.stride,
          update,
          node.flops >= least_parallel_flops};
}

double* Multifrontal::update_of(Index s) { return keep_ ? kept_.get() + kept_start_[at(s)] : updates_[at(s)].data(); }

void Multifrontal::keep_updates(bool keep) {
  if (keep == keep_) return;
  keep_ = keep;
  complete_ = false;
  if (!keep) {
    kept_.reset();
    kept_start_.clear();
  }
}

void Multifrontal::release() {
  complete_ = false;
  has_schur_ = false;
  numbers_.panels.reset();
  kept_.reset();
  release_workspace();
}

void Multifrontal::release_workspace() {
  constexpr std::size_t kLittle = std::size_t{1} << 21;  // of numbers: 16 MB
  if (pool_.free_numbers() > kLittle) pool_.clear();
}

LdltCount Multifrontal::count() const {
  LdltCount sum;
  for (const LdltCount& c : counts_) {
    sum.negative += c.negative;
    sum.zero += c.zero;
    sum.perturbed += c.perturbed;
  }
  return sum;
}

/// Clears the panel and adds the matrix' entries; children follow.
void Multifrontal::assemble_panel(const BlockMatrix& A, Index s, const Front& front) {
  const Supernode& node = plan_->supernodes[at(s)];
  const int b = plan_->block_size;
  for_tiles(front.parallel, node.pivots, assembly_columns, [&](Index begin, Index end) {
    clear_panel(b, front, {begin, end});
  });
  const bool scaled = numbers_.kind == Factorisation::ldlt;
  const double* scale = scaled ? numbers_.scale.data() : nullptr;
  const double* scale_of_pivots = scaled ? scale + std::int64_t(b) * node.first : nullptr;
  if (b == 3) {
    add_entries<3>(plan_->entries_of(node), A, front, scale_of_pivots, scale, plan_->rows_of(node), node.pivots);
  } else {
    add_entries<1>(plan_->entries_of(node), A, front, scale_of_pivots, scale, plan_->rows_of(node), node.pivots);
  }
}

void Multifrontal::eliminate(Index s, const Front& front, double* workspace, TilePreparation* preparation) {
  const Supernode& node = plan_->supernodes[at(s)];
  if (plan_->schur_nodes > 0 && s + 1 == static_cast<Index>(plan_->supernodes.size())) {
    schur_ = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>(front.panel, front.pivots, front.pivots,
                                                                        Eigen::OuterStride<>(front.stride));
    has_schur_ = true;
  }
  if (numbers_.kind == Factorisation::llt) {
    if (!eliminate_llt(front, workspace, preparation)) stopped_.store(true, std::memory_order_relaxed);
  } else {
    const std::size_t first = at(std::int64_t(plan_->block_size) * node.first);
    const LdltPivots pivots{numbers_.pivot_order.data() + first, numbers_.off_diagonal.data() + first};
    counts_[at(s)] = eliminate_ldlt(front, pivots, matrix_scale_, workspace, preparation);
  }
}

/// A subtree whose root's update goes to `update`; `stack` is free memory of stack_size_[s].
void Multifrontal::factor_subtree(const BlockMatrix& A, Index s, double* update, double* stack, double* workspace) {
  const Supernode& node = plan_->supernodes[at(s)];
  const Front front = front_of(s, update);
  const int b = plan_->block_size;
  const Range all{0, node.pivots + node.rows};
  assemble_panel(A, s, front);
  clear_update(b, front, {0, front.rows}, {0, front.rows});
  for (Index c : plan_->children_of(node)) {
    const Supernode& child = plan_->supernodes[at(c)];
    factor_subtree(A, c, stack, stack + update_size(c), workspace);
    if (stopped_.load(std::memory_order_relaxed)) return;
    extend_add(b, plan_->parent_rows_of(child), plan_->runs_of(child), all, all, stack, front);
  }
  const LastTime watch(seconds_[at(s)]);
  eliminate(s, front, workspace, nullptr);
}

/// Assembles a tile of a front's update from the children.
struct Multifrontal::Prepare final : TilePreparation {
  Multifrontal& self;
  Index s;
  const Front& front;
  Prepare(Multifrontal& m, Index supernode, const Front& f) : self(m), s(supernode), front(f) {}

  void prepare(Range rows, Range columns) override {
    const SymbolicFactor& plan = *self.plan_;
    const Supernode& node = plan.supernodes[at(s)];
    const int b = plan.block_size;
    clear_update(b, front, rows, columns);
    for (Index c : plan.children_of(node)) {
      const Supernode& child = plan.supernodes[at(c)];
      extend_add(b, plan.parent_rows_of(child), plan.runs_of(child),
                 {node.pivots + rows.begin / b, node.pivots + rows.end / b},
                 {node.pivots + columns.begin / b, node.pivots + columns.end / b}, self.update_of(c), front);
    }
  }
};

/// A front whose children's updates are all there. Each number is assembled right before it is computed with.
void Multifrontal::factor_alone(const BlockMatrix& A, Index s, double* update, double* workspace) {
  const LastTime watch(seconds_[at(s)]);
  const Supernode& node = plan_->supernodes[at(s)];
  const Front front = front_of(s, update);
  assemble_panel(A, s, front);
  for_tiles(front.parallel, node.pivots, assembly_columns, [&](Index begin, Index end) {
    for (Index c : plan_->children_of(node)) {
      const Supernode& child = plan_->supernodes[at(c)];
      extend_add(plan_->block_size, plan_->parent_rows_of(child), plan_->runs_of(child),
                 {begin, node.pivots + node.rows}, {begin, end}, update_of(c), front);
    }
  });
  Prepare preparation(*this, s, front);
  eliminate(s, front, workspace, &preparation);
}

void Multifrontal::factor_task(const BlockMatrix& A, const TreeTasks::Task& task) {
  const auto stop = [&] { return stopped_.load(std::memory_order_relaxed); };
  if (stop()) return;
  const auto& supernodes = plan_->supernodes;
  if (keep_) {
    BufferPool::Buffer workspace;
    std::size_t size = 0;
    for (Index s = task.first; s <= task.last; ++s)
      if (marked_[at(s)]) size = std::max(size, workspace_size(s));
    workspace = pool_.take(size);
    for (Index s = task.first; s <= task.last && !stop(); ++s) {
      if (marked_[at(s)]) factor_alone(A, s, update_of(s), workspace.data());
    }
    pool_.give_back(std::move(workspace));
    return;
  }
  const bool upper = supernodes[at(task.last)].first_descendant < task.first;
  std::size_t workspace_numbers = 0, stack_numbers = 0;
  for (Index s = task.first; s <= task.last; ++s) workspace_numbers = std::max(workspace_numbers, workspace_size(s));
  BufferPool::Buffer workspace = pool_.take(workspace_numbers);
  if (upper) {
    updates_[at(task.last)] = pool_.take(update_size(task.last));
    factor_alone(A, task.last, update_of(task.last), workspace.data());
    for (Index c : plan_->children_of(supernodes[at(task.last)])) pool_.give_back(std::move(updates_[at(c)]));
  } else {
    // A task may hold several small trees, one after the other.
    for (Index s = task.last; s >= task.first; s = supernodes[at(s)].first_descendant - 1)
      stack_numbers = std::max(stack_numbers, stack_size_[at(s)]);
    BufferPool::Buffer stack = pool_.take(stack_numbers);
    for (Index first = task.first; first <= task.last && !stop();) {
      Index root = first;  // of the tree that begins here
      while (root < task.last && supernodes[at(root)].parent >= 0 && supernodes[at(root)].parent <= task.last)
        root = supernodes[at(root)].parent;
      updates_[at(root)] = pool_.take(update_size(root));
      factor_subtree(A, root, updates_[at(root)].data(), stack.data(), workspace.data());
      first = root + 1;
    }
    pool_.give_back(std::move(stack));
  }
  pool_.give_back(std::move(workspace));
}

FactorStatus Multifrontal::run(const BlockMatrix& A) {
  complete_ = false;
  stopped_ = false;
  last_flops_ = 0;
  for (std::size_t s = 0; s < marked_.size(); ++s) last_flops_ += marked_[s] ? plan_->supernodes[s].flops : 0.0;
  std::optional<dense::Blas> blas;
  if (numbers_.kind == Factorisation::ldlt) blas.emplace();
  tasks_.leaves_to_roots([&](const TreeTasks::Task& task) { factor_task(A, task); });
  for (auto& update : updates_) pool_.give_back(std::move(update));  // left over where the work was stopped
  if (stopped_) return FactorStatus::not_positive_definite;
  complete_ = true;
  return numbers_.kind == Factorisation::ldlt && count().zero > 0 ? FactorStatus::singular : FactorStatus::ok;
}

FactorStatus Multifrontal::factor(const BlockMatrix& A, Factorisation kind) try {
  complete_ = false;
  has_schur_ = false;
  if (!memory_suffices(static_cast<double>(needed_bytes()))) return FactorStatus::out_of_memory;
  if (!numbers_.panels) numbers_.panels = make_aligned_array(at(plan_->panel_numbers));
  if (keep_ && !kept_) {
    kept_start_.resize(plan_->supernodes.size());
    std::size_t next = 0;
    for (Index s = 0; s < static_cast<Index>(kept_start_.size()); ++s) {
      kept_start_[at(s)] = next;
      next += update_size(s);
    }
    kept_ = make_aligned_array(next);
  }
  numbers_.kind = kind;
  if (kind == Factorisation::ldlt) {
    const std::size_t unknowns = at(plan_->block_size) * at(plan_->nodes);
    numbers_.pivot_order.resize(unknowns);
    numbers_.off_diagonal.resize(unknowns);
    equilibrate(A);
  }
  std::fill(marked_.begin(), marked_.end(), std::uint8_t{1});
  return run(A);
} catch (const std::bad_alloc&) {
  complete_ = false;
  return FactorStatus::out_of_memory;
}

FactorStatus Multifrontal::refactor(const BlockMatrix& A, std::span<const Index> dirty_nodes) try {
  if (!keep_ || !complete_ || !numbers_.panels) return factor(A, numbers_.kind);
  std::fill(marked_.begin(), marked_.end(), std::uint8_t{0});
  for (Index node : dirty_nodes) marked_[at(plan_->supernode_of[at(plan_->position[at(node)])])] = 1;
  for (std::size_t s = 0; s < marked_.size(); ++s) {
    const Index parent = plan_->supernodes[s].parent;
    if (marked_[s] && parent >= 0) marked_[at(parent)] = 1;
  }
  return run(A);
} catch (const std::bad_alloc&) {
  complete_ = false;
  return FactorStatus::out_of_memory;
}

/// Scales rows and columns so that the largest entry of each is about one (Ruiz 2001), by powers of two: exact.
/// Eliminated unknowns have a one beside stiffnesses of any size; pivoting compares them.
void Multifrontal::equilibrate(const BlockMatrix& A) {
  const int b = plan_->block_size;
  const BlockPattern& pattern = A.pattern();
  const std::size_t unknowns = at(b) * at(plan_->nodes);
  std::vector<double> scale(unknowns, 1.0), largest(unknowns);
  for (int sweep = 0; sweep < 3; ++sweep) {
    std::fill(largest.begin(), largest.end(), 0.0);
    for (Index i = 0; i < pattern.rows(); ++i) {
      for (std::int64_t k = pattern.row_start()[at(i)]; k < pattern.row_start()[at(i) + 1]; ++k) {
        const Index j = pattern.columns()[at(k)];
        for (int c = 0; c < b; ++c) {
          for (int r = 0; r < b; ++r) {
            const std::size_t row = at(b * i + r), column = at(b * j + c);
            const double entry = std::abs(A.block(k)[r + c * b]) * scale[row] * scale[column];
            largest[row] = std::max(largest[row], entry);
            largest[column] = std::max(largest[column], entry);
          }
        }
      }
    }
    for (std::size_t u = 0; u < unknowns; ++u) {
      if (largest[u] > 0) scale[u] *= std::exp2(-std::round(std::log2(largest[u]) / 2));
    }
  }
  numbers_.scale.resize(unknowns);
  for (Index p = 0; p < plan_->nodes; ++p) {
    for (int c = 0; c < b; ++c) numbers_.scale[at(b * p + c)] = scale[at(b * plan_->order[at(p)] + c)];
  }
  matrix_scale_ = 1;
}

}  // namespace pliant
