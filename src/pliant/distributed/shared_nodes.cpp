#include "pliant/distributed/shared_nodes.hpp"

#include <algorithm>
#include <cmath>

namespace pliant {

SharedNodes::SharedNodes(Team& team, const LocalModel& local) : team_(team) {
  for (const LocalModel::Neighbour& neighbour : local.neighbours) {
    exchanges_.push_back({neighbour.rank, neighbour.nodes, {}, {}});
    shared_.insert(shared_.end(), neighbour.nodes.begin(), neighbour.nodes.end());
  }
  std::sort(shared_.begin(), shared_.end());
  shared_.erase(std::unique(shared_.begin(), shared_.end()), shared_.end());
  requests_.resize(2 * exchanges_.size());
  owned_.resize(3 * static_cast<Eigen::Index>(local.owned.size()));
  for (std::size_t i = 0; i < local.owned.size(); ++i)
    owned_.segment<3>(3 * static_cast<Eigen::Index>(i)).setConstant(local.owned[i]);
}

/// What this process has at shared nodes goes to its neighbours, and what they have comes here.
void SharedNodes::send(const VecX& v, Eigen::Index width) {
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
  v.array() *= owned_.array();  // then the sum is the owner's
  sum_copies(v);
}

double SharedNodes::dot(const VecX& a, const VecX& b) {
  return team_.sum((a.array() * b.array() * owned_.array()).sum());
}

/// std::max would lose what is not a number.
double SharedNodes::largest(const VecX& v) {
  const double own = v.cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
  const double all = team_.maximum(std::isnan(own) ? HUGE_VAL : own);
  return all;
}

}  // namespace pliant
