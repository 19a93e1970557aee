#include "pliant/distributed/team.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <thread>

#include "pliant/base/stopwatch.hpp"
#include "pliant/sim/sharing.hpp"

namespace pliant {

namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;  ///< bytes: MPI counts by int

}  // namespace

Team::Team(MPI_Comm comm) : comm_(comm) {
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
  int here = 1;
  MPI_Comm_size(machine, &here);
  MPI_Comm_free(&machine);
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  const int usable = CPU_COUNT(&mine), all = static_cast<int>(std::thread::hardware_concurrency());
  const bool is_bound = here > 1 && usable < std::max(all, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  threads_ = std::max(1, is_bound ? usable : usable / here);
}

/// MPI asks of its libraries that all processes get the same bits, and the same ones again from the same numbers.
void Team::reduce(std::span<double> values, MPI_Op op) {
  const Stopwatch watch(traffic_.seconds);
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, comm_);
  ++traffic_.reductions;
}

void Team::sum(std::span<double> values) { reduce(values, MPI_SUM); }

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
  const Stopwatch watch(traffic_.seconds);
  MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, 0, comm_);
  ++traffic_.reductions;
}

template <class T>
std::vector<T> Team::gather_as(const std::vector<T>& own, MPI_Datatype type) {
  const Stopwatch watch(traffic_.seconds);
  const int count = static_cast<int>(own.size());
  std::vector<int> counts(at(is_first() ? size_ : 0), 0);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm_);
  std::vector<int> begins(counts.size(), 0);
  if (!counts.empty()) std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  std::vector<T> all(at(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
  MPI_Gatherv(own.data(), count, type, all.data(), counts.data(), begins.data(), type, 0, comm_);
  return all;
}

std::vector<double> Team::gather(const std::vector<double>& own) { return gather_as(own, MPI_DOUBLE); }
std::vector<Index> Team::gather(const std::vector<Index>& own) { return gather_as(own, MPI_INT32_T); }

void Team::send(const std::string& bytes, int to) {
  auto size = static_cast<std::uint64_t>(bytes.size());
  MPI_Send(&size, 1, MPI_UINT64_T, to, 0, comm_);
  for (std::size_t begin = 0; begin < bytes.size(); begin += kMostAtOnce)
    MPI_Send(bytes.data() + begin, static_cast<int>(std::min(kMostAtOnce, bytes.size() - begin)), MPI_BYTE, to, 0,
             comm_);
}

std::string Team::receive() {
  std::uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, 0, 0, comm_, MPI_STATUS_IGNORE);
  std::string bytes(size, '\0');
  for (std::size_t begin = 0; begin < bytes.size(); begin += kMostAtOnce)
    MPI_Recv(bytes.data() + begin, static_cast<int>(std::min(kMostAtOnce, bytes.size() - begin)), MPI_BYTE, 0, 0, comm_,
             MPI_STATUS_IGNORE);
  return bytes;
}

void Team::on_first(const std::function<void()>& work) {
  std::exception_ptr failure;
  if (is_first()) try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  const bool is_good = agree(!failure);
  if (failure) std::rethrow_exception(failure);
  if (!is_good) throw Elsewhere();
}

}  // namespace pliant
