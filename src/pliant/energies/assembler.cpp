#include "pliant/energies/assembler.hpp"

#include <cassert>
#include <limits>

#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

/// Stencils per task: a multiple of the batch size, large enough to hide the cost of a task.
constexpr Index kStencilGrain = 16 * kBatch;
constexpr Index kNodeGrain = 2048;
constexpr Index kBlockGrain = 2048;
/// Sources of a gather that are under way from memory.
constexpr std::int64_t kAhead = 12;

/// For every target the list of sources that add to it, in the order of the sources.
struct GatherMap {
  std::vector<std::int64_t> start;
  std::vector<std::uint32_t> source;

  /// target_of(source) for sources 0 .. sources-1; the stored word is code_of(source).
  template <class TargetOf, class CodeOf>
  GatherMap(std::int64_t targets, std::int64_t sources, TargetOf target_of, CodeOf code_of)
      : start(targets + 1, 0), source(sources) {
    assert(sources < std::numeric_limits<std::int32_t>::max());
    for (std::int64_t s = 0; s < sources; ++s) ++start[(target_of(s)) + 1];
    for (std::size_t t = 1; t < start.size(); ++t) start[t] += start[t - 1];
    std::vector<std::int64_t> next(start.begin(), start.end() - 1);
    for (std::int64_t s = 0; s < sources; ++s) source[next[target_of(s)]++] = code_of(s);
  }
};

GatherMap node_map(Index nodes, const Stencils& stencils) {
  return GatherMap(
      nodes, static_cast<std::int64_t>(stencils.nodes.size()), [&](std::int64_t s) { return stencils.nodes[s]; },
      [](std::int64_t s) { return static_cast<std::uint32_t>(s); });
}

/// The word for a source block: its number, doubled, plus one when it enters transposed.
GatherMap block_map(const BlockPattern& pattern, const Stencils& stencils) {
  const int per_stencil = local_blocks(stencils.size);
  const std::int64_t sources = static_cast<std::int64_t>(stencils.count()) * per_stencil;
  std::vector<std::int64_t> target(sources);
  std::vector<std::uint8_t> transposed(sources);
  for_chunks(stencils.count(), kStencilGrain, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      const Index* nodes = stencils[s];
      std::size_t k = s * per_stencil;
      for (int b = 0; b < stencils.size; ++b)
        for (int a = 0; a <= b; ++a, ++k) {
          transposed[k] = nodes[a] > nodes[b];
          target[k] = transposed[k] ? pattern.find(nodes[b], nodes[a]) : pattern.find(nodes[a], nodes[b]);
          assert(target[k] >= 0);
        }
    }
  });
  return GatherMap(
      pattern.blocks(), sources, [&](std::int64_t s) { return target[s]; },
      [&](std::int64_t s) { return static_cast<std::uint32_t>(2 * s + transposed[s]); });
}

}  // namespace

struct Assembler::Part {
  const Energy& energy;
  Index grain;  ///< stencils per call
  GatherMap nodes;
  GatherMap blocks;
  std::vector<double> values;
  std::vector<double> gradients;
  std::vector<double> hessians;  ///< allocated when first needed

  Part(Index node_count, const Energy& e, const BlockPattern& pattern)
      : energy(e),
        grain(e.chunk() > 0 ? e.chunk() : kStencilGrain),
        nodes(node_map(node_count, e.stencils())),
        blocks(block_map(pattern, e.stencils())),
        values(static_cast<std::size_t>(e.stencils().count())),
        gradients(3 * e.stencils().nodes.size()) {}

  /// Evaluates all stencils and adds their values up in order.
  double evaluate(const Pose& pose, bool with_gradients) {
    const Stencils& stencils = energy.stencils();
    return sum_chunks(stencils.count(), grain, [&](Index begin, Index end) {
      double* v = values.data() + begin;
      double* g = with_gradients ? gradients.data() + 3 * std::ptrdiff_t(begin) * stencils.size : nullptr;
      energy.evaluate(pose, {begin, end}, v, g);
      double sum = 0;
      for (Index s = 0; s < end - begin; ++s) sum += v[s];
      return sum;
    });
  }
};

Assembler::Assembler(Index nodes, const std::vector<const Energy*>& energies, const BlockPattern& pattern) {
  for (const Energy* energy : energies) parts_.push_back(std::make_unique<Part>(nodes, *energy, pattern));
}

Assembler::~Assembler() = default;

double Assembler::value(const Pose& pose) {
  double sum = 0;
  for (auto& part : parts_) sum += part->evaluate(pose, false);
  return sum;
}

double Assembler::add_gradient(const Pose& pose, VecX& g) {
  double sum = 0;
  for (auto& part : parts_) {
    sum += part->evaluate(pose, true);
    const GatherMap& map = part->nodes;
    for_chunks(static_cast<Index>(map.start.size()) - 1, kNodeGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        double fx = 0, fy = 0, fz = 0;
        for (auto k = map.start[i]; k < map.start[i + 1]; ++k) {
          const double* f = part->gradients.data() + 3 * static_cast<std::size_t>(map.source[k]);
          fx += f[0], fy += f[1], fz += f[2];
        }
        node(g, i) += Vec3(fx, fy, fz);
      }
    });
  }
  return sum;
}

void Assembler::add_hessian(const Pose& pose, Projection projection, BlockMatrix& A, std::span<const double> scales) {
  assert(A.block_size() == 3);
  assert(scales.empty() || scales.size() == parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto& part = parts_[p];
    const double scale = scales.empty() ? 1 : scales[p];
    if (scale == 0) continue;
    const Stencils& stencils = part->energy.stencils();
    const std::size_t per_stencil = 9 * static_cast<std::size_t>(local_blocks(stencils.size));
    part->hessians.resize(per_stencil * static_cast<std::size_t>(stencils.count()));
    for_chunks(stencils.count(), part->grain, [&](Index begin, Index end) {
      part->energy.hessians(pose, {begin, end}, projection, part->hessians.data() + per_stencil * begin);
    });
    const GatherMap& map = part->blocks;
    const double* hessians = part->hessians.data();
    const auto sources = static_cast<std::int64_t>(map.source.size());
    for_chunks(static_cast<Index>(map.start.size()) - 1, kBlockGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        double sum[9] = {};
        for (auto k = map.start[i]; k < map.start[i + 1]; ++k) {
          // Sources lie all over the buffer: ask for them before they are needed. A block touches two cache lines.
          if (k + kAhead < sources) {
            const double* ahead = hessians + 9 * static_cast<std::size_t>(map.source[k + kAhead] >> 1);
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + 8);
          }
          const std::uint32_t word = map.source[k];
          const double* in = hessians + 9 * static_cast<std::size_t>(word >> 1);
          if (word & 1) {
            for (int c = 0; c < 3; ++c)
              for (int r = 0; r < 3; ++r) sum[3 * c + r] += in[3 * r + c];
          } else {
            for (int e = 0; e < 9; ++e) sum[e] += in[e];
          }
        }
        double* out = A.block(i);
        for (int e = 0; e < 9; ++e) out[e] += scale * sum[e];
      }
    });
  }
}

std::shared_ptr<const BlockPattern> coupling_pattern(Index nodes, std::span<const Energy* const> energies) {
  std::vector<BlockPattern::Cliques> cliques;
  for (const Energy* energy : energies) cliques.push_back({energy->stencils().nodes, energy->stencils().size});
  return std::make_shared<BlockPattern>(nodes, cliques);
}

}  // namespace pliant
