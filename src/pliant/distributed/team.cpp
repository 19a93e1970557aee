#include "pliant/distributed/team.hpp"

namespace pliant {

Team::Team(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

/// MPI asks of its libraries that all processes get the same bits, and the same ones again from the same numbers.
void Team::reduce(std::span<double> values, MPI_Op op) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, comm_);
  ++traffic_.reductions;
}

void Team::sum(std::span<double> values) { reduce(values, MPI_SUM); }

double Team::sum(double value) {
  reduce({&value, 1}, MPI_SUM);
  return value;
}

double Team::maximum(double value) {
  reduce({&value, 1}, MPI_MAX);
  return value;
}

double Team::minimum(double value) {
  reduce({&value, 1}, MPI_MIN);
  return value;
}

bool Team::agree(bool says) {
  double value = says ? 1 : 0;
  broadcast({&value, 1});
  return value != 0;
}

void Team::broadcast(std::span<double> values) {
  MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, 0, comm_);
  ++traffic_.reductions;
}

}  // namespace pliant
