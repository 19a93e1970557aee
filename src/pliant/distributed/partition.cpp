#include "pliant/distributed/partition.hpp"

#include <fmt/format.h>
#include <metis.h>

#include <algorithm>

#include "pliant/base/error.hpp"

namespace pliant {

namespace {

/// The part of each node.
std::vector<int> divide_nodes(const Model& model, int parts) {
  const BlockPattern& pattern = *model.pattern();
  const auto nodes = static_cast<std::size_t>(pattern.rows());
  std::vector<int> part(nodes, 0);
  if (parts == 1) return part;
  std::vector<idx_t> start = {0}, neighbours;
  start.reserve(nodes + 1);
  neighbours.reserve(2 * static_cast<std::size_t>(pattern.blocks()));
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (const BlockPattern::Transposed& left : pattern.lower_row(i)) neighbours.push_back(left.column);
    for (std::int64_t k = pattern.diagonal(i) + 1; k < pattern.row_start()[at(i) + 1]; ++k)
      neighbours.push_back(pattern.columns()[at(k)]);
    start.push_back(static_cast<idx_t>(neighbours.size()));
  }
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  auto count = static_cast<idx_t>(nodes);
  idx_t constraints = 1, wanted = parts, cut = 0;
  std::vector<idx_t> found(nodes, 0);
  // Recursive bisection balances few parts better.
  const auto divide = parts <= 8 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  if (divide(&count, &constraints, start.data(), neighbours.data(), nullptr, nullptr, nullptr, &wanted, nullptr,
             nullptr, options, &cut, found.data()) != METIS_OK)
    throw InputError(fmt::format("METIS cannot divide {} nodes among {} processes; start fewer", nodes, parts));
  std::copy(found.begin(), found.end(), part.begin());
  return part;
}

/// Where most of its nodes are; of two such parts the lower one.
int part_of_element(std::span<const Index> nodes, Index first, const std::vector<int>& part) {
  int best = -1;
  std::ptrdiff_t most = 0;
  for (Index i : nodes) {
    const int candidate = part[at(first + i)];
    const auto here =
        std::count_if(nodes.begin(), nodes.end(), [&](Index j) { return part[at(first + j)] == candidate; });
    if (here > most || (here == most && candidate < best)) {
      best = candidate;
      most = here;
    }
  }
  return best;
}

}  // namespace

Partition partition(const Model& model, int parts) {
  Partition result;
  result.parts = parts;
  const std::vector<int> wanted = divide_nodes(model, parts);
  std::vector<std::int64_t> elements(at(parts), 0);
  std::vector<std::pair<Index, int>> pairs;  // node and part
  for (const Body& body : model.bodies()) {
    const FeMesh& mesh = *body.elements;
    const auto size = static_cast<std::size_t>(mesh.reference().nodes());
    std::vector<int>& of = result.of_element.emplace_back();
    for (Index e = 0; e < mesh.element_count(); ++e) {
      const auto nodes = mesh.elements().subspan(at(e) * size, size);
      of.push_back(part_of_element(nodes, body.nodes.begin, wanted));
      ++elements[at(of.back())];
      for (Index i : nodes) pairs.emplace_back(body.nodes.begin + i, of.back());
    }
  }
  for (int p = 0; p < parts; ++p)
    if (elements[at(p)] == 0)
      throw InputError(
          fmt::format("{} processes are too many for {} nodes: one of them would have no elements; start "
                      "fewer (mpirun -n)",
                      parts, model.nodes()));
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  result.start.assign(at(model.nodes()) + 1, 0);
  result.owner.assign(at(model.nodes()), 0);
  for (const auto& [i, p] : pairs) {
    ++result.start[at(i) + 1];
    result.copies.push_back(p);
  }
  for (std::size_t i = 0; i < result.owner.size(); ++i) {
    result.start[i + 1] += result.start[i];
    const auto begin = result.copies.begin() + result.start[i], end = result.copies.begin() + result.start[i + 1];
    result.owner[i] = std::find(begin, end, wanted[i]) != end ? wanted[i] : *begin;
  }
  return result;
}

}  // namespace pliant
