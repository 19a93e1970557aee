#include "pliant/linalg/blas.hpp"

#include <dlfcn.h>
#include <oneapi/tbb/global_control.h>
#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace pliant::dense {

namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20U;
/// A work space of OpenBLAS on x86-64, with what is lost to its alignment.
constexpr std::size_t kWorkSpace = 132 * kMegabyte;
/// The library itself, and the first work space.
constexpr std::size_t kLibrary = 64 * kMegabyte + kWorkSpace;
/// The stack of each thread that it starts when it is loaded.
constexpr std::size_t kStack = 9 * kMegabyte;

/// Throws std::bad_alloc unless so many bytes of addresses could be had just now.
void expect_room(std::size_t bytes) {
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, bytes);
}

/// The numbers of CBLAS.
enum : int { column_major = 102, no_transpose = 111, non_unit = 131, lower = 122, right = 142 };

struct Library {
  using Trsm = void (*)(int, int, int, int, int, int, int, double, const double*, int, double*, int);
  using Sytrf = void (*)(const char*, const int*, double*, const int*, double*, int*, double*, const int*, int*,
                         std::size_t);
  Trsm trsm = nullptr;
  Sytrf sytrf = nullptr;
  void* (*take)(int) = nullptr;  ///< a work space; kept for the next call when it is given back
  void (*give)(void*) = nullptr;
  /// Threads that it started when it was loaded. We give them nothing to do, but each takes a work space for good when
  /// it first runs, which may be long after ours have been reserved.
  int own_threads = 0;

  Library() {
    expect_room(kLibrary + (kStack + kWorkSpace) * std::thread::hardware_concurrency());
    void* handle = nullptr;
    for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
      if (!handle) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw std::runtime_error(std::string("OpenBLAS cannot be loaded: ") + dlerror() +
                               "; install it (Debian: libopenblas0)");
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      return function != nullptr;
    };
    void (*set_threads)(int) = nullptr;
    int (*get_threads)() = nullptr;
    if (!find(trsm, "cblas_dtrsm") || !find(sytrf, "dsytrf_rk_") || !find(set_threads, "openblas_set_num_threads") ||
        !find(get_threads, "openblas_get_num_threads"))
      throw std::runtime_error("the OpenBLAS of this machine lacks functions; version 0.3 or later is needed");
    own_threads = get_threads() - 1;
    set_threads(1);
    // Not part of its interface, but there in every version; without them nothing is reserved.
    if (!find(take, "blas_memory_alloc") || !find(give, "blas_memory_free")) take = nullptr;
  }
};

/// Loaded once; where that throws, the next use tries again.
const Library& library() {
  static const Library loaded;
  return loaded;
}

/// Work spaces that OpenBLAS has, and how many may be in use at the same time.
class WorkSpaces {
 public:
  void add(int threads) {
    const std::lock_guard lock(mutex_);
    const Library& blas = library();
    users_ += threads;
    std::vector<void*> taken;
    const auto give_back = [&] {
      for (void* space : taken) blas.give(space);
    };
    try {
      while (blas.take && static_cast<int>(known_.size()) < users_ + blas.own_threads) {
        expect_room(kWorkSpace);
        taken.push_back(blas.take(0));
        if (std::find(known_.begin(), known_.end(), taken.back()) == known_.end()) known_.push_back(taken.back());
      }
    } catch (...) {
      users_ -= threads;
      give_back();
      throw;
    }
    give_back();
  }
  void remove(int threads) {
    const std::lock_guard lock(mutex_);
    users_ -= threads;
  }

 private:
  std::mutex mutex_;
  std::vector<void*> known_;
  int users_ = 0;
};

WorkSpaces& work_spaces() {
  static WorkSpaces spaces;  // OpenBLAS has one set for the whole process
  return spaces;
}

}  // namespace

Blas::Blas(int threads)
    : threads_(threads > 0 ? threads
                           : static_cast<int>(
                                 tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism))) {
  work_spaces().add(threads_);
}

Blas::~Blas() { work_spaces().remove(threads_); }

void Blas::solve_lower_from_right(int rows, int columns, const double* L, int L_stride, double* B) {
  library().trsm(column_major, right, lower, no_transpose, non_unit, rows, columns, 1, L, L_stride, B, rows);
}

int Blas::factor_symmetric(int n, double* A, int stride, double* off_diagonal, int* pivots, double* work,
                           int work_size) {
  int info = 0;
  library().sytrf("L", &n, A, &stride, off_diagonal, pivots, work, &work_size, &info, 1);
  return info;
}

}  // namespace pliant::dense
