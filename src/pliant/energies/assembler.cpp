#include "pliant/energies/assembler.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <cassert>

#include "pliant/energies/block_kernels.hpp"
#include "pliant/energies/block_places.hpp"
#include "pliant/energies/elastic_kernels.hpp"
#include "pliant/math/parallel.hpp"

namespace pliant {

namespace {

/// Stencils per task: a multiple of the batch size, large enough to hide the cost of a task.
constexpr Index kStencilGrain = 16 * kBatch;
constexpr Index kNodeGrain = 2048;
/// Calls per chunk of a Hessian: more means fewer blocks that chunks share, until places fall out of the cache.
constexpr Index kCallsPerChunk = 8;

/// Where gradients are added up. A chunk of stencils adds into places of its own, one for each node it touches; a node
/// then collects its places in the order of the chunks. Neighbours in the mesh share nodes, so that there are a few
/// times fewer places than corners of stencils, and adding happens in the nearest cache.
struct PlaceMap {
  std::vector<std::int64_t> chunk_start;  ///< first place of each chunk
  std::vector<Index> place;               ///< per stencil and local node, from its chunk's first
  std::vector<Index> node;                ///< those with any place, ascending
  std::vector<std::int64_t> start;        ///< of each of them, into `places`
  std::vector<std::uint32_t> places;

  void build(Index nodes, const Stencils& stencils, Index grain) {
    const auto per_chunk = static_cast<std::size_t>(grain) * static_cast<std::size_t>(stencils.size);
    std::vector<std::int64_t> last_place(static_cast<std::size_t>(nodes) + 1, -1);  // the last for no node: -1
    std::vector<Index> owner;                                                       // node of each place
    place.resize(stencils.nodes.size());
    chunk_start.assign(1, 0);
    node.clear();
    for (std::size_t begin = 0; begin < place.size(); begin += per_chunk) {
      const std::int64_t first = chunk_start.back();
      for (std::size_t k = begin; k < std::min(place.size(), begin + per_chunk); ++k) {
        const Index n = stencils.nodes[k];
        std::int64_t& last = last_place[static_cast<std::size_t>(n < 0 ? nodes : n)];
        if (last < first) {
          last = static_cast<std::int64_t>(owner.size());
          owner.push_back(n);
        }
        place[k] = static_cast<Index>(last - first);
      }
      chunk_start.push_back(static_cast<std::int64_t>(owner.size()));
    }
    std::vector<std::int64_t> ends(static_cast<std::size_t>(nodes) + 1, 0);
    for (Index n : owner)
      if (n >= 0) ++ends[static_cast<std::size_t>(n) + 1];
    start.assign(1, 0);
    for (Index n = 0; n < nodes; ++n) {
      const auto i = static_cast<std::size_t>(n);
      ends[i + 1] += ends[i];
      if (ends[i + 1] == ends[i]) continue;
      node.push_back(n);
      start.push_back(ends[i + 1]);
    }
    places.resize(static_cast<std::size_t>(ends.back()));
    for (std::size_t p = 0; p < owner.size(); ++p)
      if (owner[p] >= 0)
        places[static_cast<std::size_t>(ends[static_cast<std::size_t>(owner[p])]++)] = static_cast<std::uint32_t>(p);
  }
};

}  // namespace

struct Assembler::Part {
  const Energy& energy;
  Index grain;  ///< stencils per call
  PlaceMap nodes;
  BlockPlaces blocks;
  /// The revisions that the maps were made for, when first needed: some solvers never ask for all of them.
  std::int64_t nodes_revision = -1, blocks_revision = -1;
  std::vector<double> values;
  std::vector<double> partial;                                     ///< sum of the values of each chunk
  std::vector<double> at_places;                                   ///< four doubles each, the last of no meaning
  tbb::enumerable_thread_specific<std::vector<double>> gradients;  ///< of one chunk
  tbb::enumerable_thread_specific<std::vector<double>> hessians;   ///< of one call, and a chunk's places behind them
  std::vector<double> shared;                                      ///< by blocks; allocated when first needed

  explicit Part(const Energy& e) : energy(e), grain(e.chunk() > 0 ? e.chunk() : kStencilGrain) {}

  void read_stencils(Index node_count) {
    nodes.build(node_count, energy.stencils(), grain);
    values.resize(static_cast<std::size_t>(energy.stencils().count()));
    partial.resize(nodes.chunk_start.size() - 1);
    at_places.resize(4 * static_cast<std::size_t>(nodes.chunk_start.back()));
    nodes_revision = energy.revision();
  }
  void read_blocks(const BlockPattern& pattern) {
    blocks.build(pattern, energy.stencils(), per_chunk());
    shared.resize(blocks.shared_numbers());
    blocks_revision = energy.revision();
  }
  /// Stencils that add up their Hessians together.
  Index per_chunk() const {
    return static_cast<Index>(
        std::clamp<std::int64_t>(energy.stencils().count(), 1, kCallsPerChunk * std::int64_t(grain)));
  }
  void follow(Index node_count) {
    if (energy.revision() != nodes_revision) read_stencils(node_count);
  }
  /// Memory for the gradients of one chunk. One number more than they have: what is read with the last three of them.
  double* scratch() {
    std::vector<double>& memory = gradients.local();
    const Stencils& stencils = energy.stencils();
    const auto needed =
        3 * static_cast<std::size_t>(std::min(grain, stencils.count())) * static_cast<std::size_t>(stencils.size) + 1;
    if (memory.size() < needed) memory.resize(needed);
    return memory.data();
  }

  /// Evaluates all stencils, with their gradients added up at places, and returns the sum of their values in order.
  double evaluate(const Pose& pose, bool with_gradients) {
    const Stencils& stencils = energy.stencils();
    for_chunks(stencils.count(), grain, [&](Index begin, Index end) {
      const auto chunk = static_cast<std::size_t>(begin / grain);
      double* v = values.data() + begin;
      double* g = with_gradients ? scratch() : nullptr;
      energy.evaluate(pose, {begin, end}, v, g);
      partial[chunk] = Eigen::Map<const VecX>(v, end - begin).sum();
      if (with_gradients) add_at_places(chunk, g, stencils, begin, end);
    });
    double sum = 0;
    for (double p : partial) sum += p;
    return sum;
  }

  void add_at_places(std::size_t chunk, const double* g, const Stencils& stencils, Index begin, Index end) {
    double* first = at_places.data() + 4 * nodes.chunk_start[chunk];
    std::fill(first, at_places.data() + 4 * nodes.chunk_start[chunk + 1], 0.0);
    const Index* place = nodes.place.data() + static_cast<std::ptrdiff_t>(begin) * stencils.size;
    const std::ptrdiff_t corners = static_cast<std::ptrdiff_t>(end - begin) * stencils.size;
    add_corners(g, place, corners, first);
  }

  void add_hessian(const Pose& pose, Projection projection, double scale, BlockMatrix& A) {
    const Index count = energy.stencils().count();
    const std::size_t per_call = 9 * at(blocks.words_per_stencil()) * at(std::min(grain, count));
    const std::size_t needed = per_call + 9 * at(blocks.most_places());
    for_chunks(count, per_chunk(), [&](Index begin, Index end) {
      std::vector<double>& memory = hessians.local();
      if (memory.size() < needed) memory.resize(needed);
      const Index chunk = begin / per_chunk();
      double* places = memory.data() + per_call;
      std::fill_n(places, 9 * blocks.places(chunk), 0.0);
      for (Index first = begin; first < end; first += grain) {
        const Index last = std::min(end, first + grain);
        energy.hessians(pose, {first, last}, projection, memory.data());
        const std::uint32_t* words = blocks.words(first);
        add_blocks(memory.data(), words, blocks.words(last) - words, places);
      }
      blocks.leave(chunk, places, scale, A, shared);
    });
    blocks.collect(shared, A);
  }

  void collect(VecX& g) const {
    for_chunks(static_cast<Index>(nodes.node.size()), kNodeGrain, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        Eigen::Vector4d sum = Eigen::Vector4d::Zero();
        for (auto k = nodes.start[static_cast<std::size_t>(i)]; k < nodes.start[static_cast<std::size_t>(i) + 1]; ++k)
          sum += Eigen::Map<const Eigen::Vector4d>(at_places.data() + 4 * static_cast<std::size_t>(nodes.places[k]));
        node(g, nodes.node[static_cast<std::size_t>(i)]) += sum.head<3>();
      }
    });
  }
};

Assembler::Assembler(Index nodes, const std::vector<const Energy*>& energies) : nodes_(nodes) {
  for (const Energy* energy : energies) parts_.push_back(std::make_unique<Part>(energy->in_memory_order()));
}

Assembler::~Assembler() = default;

double Assembler::value(const Pose& pose) {
  double sum = 0;
  for (auto& part : parts_) {
    part->follow(nodes_);
    sum += part->evaluate(pose, false);
  }
  return sum;
}

double Assembler::add_gradient(const Pose& pose, VecX& g) {
  double sum = 0;
  for (auto& part : parts_) {
    part->follow(nodes_);
    sum += part->evaluate(pose, true);
    part->collect(g);
  }
  return sum;
}

std::span<const double> Assembler::values(std::size_t energy) const { return parts_[energy]->values; }

void Assembler::look_up_places(const std::shared_ptr<const BlockPattern>& pattern) {
  const bool changed = pattern != pattern_;
  pattern_ = pattern;
  for (auto& part : parts_)
    if (changed || part->blocks_revision != part->energy.revision()) part->read_blocks(*pattern_);
}

void Assembler::add_hessian(const Pose& pose, Projection projection, BlockMatrix& A, std::span<const double> scales) {
  assert(A.block_size() == 3);
  assert(scales.empty() || scales.size() == parts_.size());
  look_up_places(A.shared_pattern());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto& part = parts_[p];
    const double scale = scales.empty() ? 1 : scales[p];
    if (scale == 0) continue;
    part->add_hessian(pose, projection, scale, A);
  }
}

std::shared_ptr<const BlockPattern> coupling_pattern(Index nodes, std::span<const Energy* const> energies) {
  std::vector<BlockPattern::Cliques> cliques;
  for (const Energy* energy : energies) cliques.push_back({energy->stencils().nodes, energy->stencils().size});
  return std::make_shared<BlockPattern>(nodes, cliques);
}

}  // namespace pliant
