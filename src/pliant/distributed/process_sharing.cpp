#include "pliant/distributed/process_sharing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>

#include "pliant/base/step_control.hpp"
#include "pliant/distributed/petsc_system.hpp"

namespace pliant {

std::vector<std::pair<std::string, double>> figures(const ProcessWork& work) {
  return {{"nodes", work.nodes},
          {"copies_of_others", work.copies_of_others},
          {"elements", work.elements},
          {"neighbours", work.neighbours},
          {"messages", work.messages},
          {"bytes", work.bytes},
          {"reductions", work.reductions},
          {"cpu_seconds", work.cpu_seconds},
          {"waiting_seconds", work.waiting_seconds},
          {"peak_bytes", work.peak_bytes}};
}

ProcessSharing::ProcessSharing(Team& team, const ModelPart& part)
    : team_(team),
      shared_(team, part),
      all_nodes_(part.all_nodes),
      nodes_(part.nodes),
      owned_(part.owned),
      neighbours_(part.neighbours.size()) {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (owned_[i]) own_nodes_.emplace_back(nodes_[i], static_cast<Index>(i));
  std::sort(own_nodes_.begin(), own_nodes_.end());
  const int count = owned_count();
  MPI_Exscan(&count, &first_row_, 1, MPI_INT, MPI_SUM, team_.comm());
  if (team_.is_first()) first_row_ = 0;
  VecX rows = VecX::Zero(static_cast<Eigen::Index>(nodes_.size()));
  for (std::size_t k = 0; k < own_nodes_.size(); ++k)
    rows[own_nodes_[k].second] = static_cast<double>(first_row_) + static_cast<double>(k);
  shared_.update_copies(rows);
  for (double row : rows) rows_.push_back(static_cast<Index>(row));
}

double ProcessSharing::sum_value(double value) {
  double values[2] = {value, control_ && control_->stop_requested() ? 1.0 : 0.0};
  team_.sum(values);
  if (values[1] > 0) throw Interrupted();
  return values[0];
}

template <class Piece>
void ProcessSharing::in_pieces(Piece&& piece) const {
  constexpr Index kNodes = 1 << 18;
  std::size_t first = 0;
  for (Index begin = 0; begin < all_nodes_; begin += kNodes) {
    const Index end = std::min(all_nodes_, begin + kNodes);
    std::size_t last = first;
    while (last < own_nodes_.size() && own_nodes_[last].first < end) ++last;
    piece(begin, end, first, last);
    first = last;
  }
}

/// Each process sends the numbers of its nodes along: nobody has to know all of them.
void ProcessSharing::gather(const VecX& part, VecX& whole) {
  if (team_.is_first()) whole.resize(3 * static_cast<Eigen::Index>(all_nodes_));
  in_pieces([&](Index, Index, std::size_t first, std::size_t last) {
    std::vector<Index> numbers;
    std::vector<double> values;
    for (std::size_t k = first; k < last; ++k) {
      numbers.push_back(own_nodes_[k].first);
      for (int c = 0; c < 3; ++c) values.push_back(node(part, own_nodes_[k].second)[c]);
    }
    numbers = team_.gather(numbers);
    values = team_.gather(values);
    for (std::size_t k = 0; k < numbers.size(); ++k)
      node(whole, numbers[k]) = Eigen::Map<const Vec3>(values.data() + 3 * k);
  });
}

void ProcessSharing::scatter(const VecX& whole, VecX& part) {
  part.setZero(3 * static_cast<Eigen::Index>(nodes_.size()));
  VecX piece;
  in_pieces([&](Index begin, Index end, std::size_t first, std::size_t last) {
    piece.resize(3 * static_cast<Eigen::Index>(end - begin));
    if (team_.is_first()) piece = whole.segment(3 * static_cast<Eigen::Index>(begin), piece.size());
    team_.broadcast({piece.data(), static_cast<std::size_t>(piece.size())});
    for (std::size_t k = first; k < last; ++k)
      node(part, own_nodes_[k].second) = node(piece, own_nodes_[k].first - begin);
  });
  shared_.update_copies(part);
}

void ProcessSharing::on_first(const std::function<void()>& work) { team_.on_first(work); }

std::unique_ptr<LinearSystem> ProcessSharing::make_system(StepFunction& function, const LinearOptions& options) {
  return std::make_unique<PetscSystem>(*this, function, options);
}

void ProcessSharing::set_masses(const Mass& mass) {
  lumped_ = mass.lumped();
  consistent_ = mass.consistent_diagonal();
  for (VecX* m : {&lumped_, &consistent_}) shared_.sum_copies(*m);
}

std::vector<ProcessWork> ProcessSharing::work(const Model& model) {
  constexpr std::size_t kNumbers = sizeof(ProcessWork) / sizeof(double);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  double elements = 0;
  for (const Body& body : model.bodies()) elements += body.elements->element_count();
  const Traffic& traffic = team_.traffic();
  const std::vector<double> own = {static_cast<double>(own_nodes_.size()),
                                   static_cast<double>(nodes_.size() - own_nodes_.size()),
                                   elements,
                                   static_cast<double>(neighbours_),
                                   static_cast<double>(traffic.messages),
                                   static_cast<double>(traffic.bytes),
                                   static_cast<double>(traffic.reductions),
                                   seconds(used.ru_utime) + seconds(used.ru_stime),
                                   traffic.seconds,
                                   1024.0 * static_cast<double>(used.ru_maxrss)};
  const std::vector<double> all = team_.gather(own);
  std::vector<ProcessWork> list(all.size() / kNumbers);
  std::copy(all.begin(), all.end(), reinterpret_cast<double*>(list.data()));
  return list;
}

}  // namespace pliant
