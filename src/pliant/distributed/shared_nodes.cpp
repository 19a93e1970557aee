#include "pliant/distributed/shared_nodes.hpp"

#include <algorithm>

#include "pliant/base/stopwatch.hpp"

namespace pliant {

SharedNodes::SharedNodes(Team& team, const ModelPart& part) : team_(team) {
  for (const ModelPart::Neighbour& neighbour : part.neighbours) {
    exchanges_.push_back({neighbour.rank, neighbour.nodes, {}, {}});
    shared_.insert(shared_.end(), neighbour.nodes.begin(), neighbour.nodes.end());
  }
  std::sort(shared_.begin(), shared_.end());
  shared_.erase(std::unique(shared_.begin(), shared_.end()), shared_.end());
  requests_.resize(2 * exchanges_.size());
  owned_.resize(3 * static_cast<Eigen::Index>(part.owned.size()));
  for (std::size_t i = 0; i < part.owned.size(); ++i)
    owned_.segment<3>(3 * static_cast<Eigen::Index>(i)).setConstant(part.owned[i]);
}

/// What this process has at shared nodes goes to its neighbours, and what they have comes here.
void SharedNodes::send(const VecX& v, Eigen::Index width) {
  const Stopwatch watch(team_.traffic().seconds);
  std::size_t request = 0;
  for (Exchange& exchange : exchanges_) {
    const std::size_t count = exchange.nodes.size() * at(width);
    exchange.in.resize(count);
    MPI_Irecv(exchange.in.data(), static_cast<int>(count), MPI_DOUBLE, exchange.rank, 0, team_.comm(),
              &requests_[request++]);
  }
  for (Exchange& exchange : exchanges_) {
    const std::size_t count = exchange.nodes.size() * at(width);
    exchange.out.resize(count);
    for (std::size_t k = 0; k < exchange.nodes.size(); ++k)
      for (Eigen::Index c = 0; c < width; ++c) exchange.out[k * at(width) + at(c)] = v[exchange.nodes[k] * width + c];
    MPI_Isend(exchange.out.data(), static_cast<int>(count), MPI_DOUBLE, exchange.rank, 0, team_.comm(),
              &requests_[request++]);
    ++team_.traffic().messages;
    team_.traffic().bytes += static_cast<std::int64_t>(count * sizeof(double));
  }
  MPI_Waitall(static_cast<int>(request), requests_.data(), MPI_STATUSES_IGNORE);
}

void SharedNodes::sum_copies(VecX& v) {
  const Eigen::Index width = 3 * v.size() / owned_.size();
  send(v, width);
  own_.resize(shared_.size() * at(width));
  for (std::size_t k = 0; k < shared_.size(); ++k)
    for (Eigen::Index c = 0; c < width; ++c) {
      double& value = v[shared_[k] * width + c];
      own_[k * at(width) + at(c)] = value;
      value = 0;
    }
  const auto add = [&](const std::vector<Index>& nodes, const std::vector<double>& values) {
    for (std::size_t k = 0; k < nodes.size(); ++k)
      for (Eigen::Index c = 0; c < width; ++c) v[nodes[k] * width + c] += values[k * at(width) + at(c)];
  };
  bool has_own = false;
  for (const Exchange& exchange : exchanges_) {
    if (!has_own && exchange.rank > team_.rank()) {
      add(shared_, own_);
      has_own = true;
    }
    add(exchange.nodes, exchange.in);
  }
  if (!has_own) add(shared_, own_);
}

void SharedNodes::update_copies(VecX& v) {
  const Eigen::Index each = owned_.size() / v.size();  // 3 where v has one number a node
  for (Eigen::Index i = 0; i < v.size(); ++i) v[i] *= owned_[i * each];
  sum_copies(v);  // then the sum is the owner's
}

double SharedNodes::dot(const VecX& a, const VecX& b) {
  double sum = a.size() == owned_.size() ? (a.array() * b.array() * owned_.array()).sum() : 0;
  if (a.size() != owned_.size())  // one number a node
    for (Eigen::Index i = 0; i < a.size(); ++i) sum += a[i] * b[i] * owned_[3 * i];
  team_.sum({&sum, 1});
  return sum;
}

}  // namespace pliant
