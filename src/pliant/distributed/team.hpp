#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pliant/math/types.hpp"

namespace pliant {

/// What went between processes, as one of them counts it: what docs/scale.md models.
struct Traffic {
  std::int64_t messages = 0;    ///< sent to neighbours
  std::int64_t bytes = 0;       ///< in them
  std::int64_t reductions = 0;  ///< sums, maxima and broadcasts of a few numbers over all processes
  double seconds = 0;           ///< spent in all of these, with waiting
};

/// The processes that work on one scene. Every function that speaks of all of them is called by all of them.
class Team {
 public:
  explicit Team(MPI_Comm comm);

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_first() const { return rank_ == 0; }
  /// That a process had better use: the cores it may use, divided among the processes of the same machine, unless each
  /// is bound to cores of its own.
  int threads() const { return threads_; }

  void sum(std::span<double> values);
  double maximum(double value);
  double minimum(double value);
  /// What the first says.
  bool agree(bool says);
  void broadcast(std::span<double> values);
  /// Lists of all processes, one after the other, on the first; nothing on the others.
  std::vector<double> gather(const std::vector<double>& own);
  std::vector<Index> gather(const std::vector<Index>& own);
  /// From the first to another.
  void send(const std::string& bytes, int to);
  std::string receive();
  /// As Sharing::on_first.
  void on_first(const std::function<void()>& work);

  Traffic& traffic() { return traffic_; }
  const Traffic& traffic() const { return traffic_; }

 private:
  void reduce(std::span<double> values, MPI_Op op);
  template <class T>
  std::vector<T> gather_as(const std::vector<T>& own, MPI_Datatype type);

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1, threads_ = 1;
  Traffic traffic_;
};

}  // namespace pliant
