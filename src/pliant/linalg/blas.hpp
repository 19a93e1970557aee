#pragma once

#include <cstddef>

namespace pliant::dense {

/// The two functions of OpenBLAS that the factorisations use. The library is loaded at their first use, and each thread
/// stays on its own: tasks are ours.
///
/// OpenBLAS takes a work space of 128 MiB of addresses when it is loaded and for each thread that calls it at the same
/// time, and where there is no room for one it tries again for ever, inside its constructor too. So whoever calls it
/// says first on how many threads, and the library's own idle threads are counted in; where there is no room, that
/// throws std::bad_alloc, while one can still say so.
class Blas {
 public:
  /// Reserves work spaces for calls on `threads` threads at once, by default on all that run tasks, as long as this
  /// lives. Throws std::bad_alloc, and std::runtime_error where the library cannot be loaded.
  explicit Blas(int threads = 0);
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  ~Blas();

  /// B <- B L^{-1} with B of rows x columns and L lower triangular, both by columns.
  static void solve_lower_from_right(int rows, int columns, const double* L, int L_stride, double* B);
  /// LAPACK's dsytrf_rk of the lower triangle (Bunch and Kaufman's L D L^T, bounded). Returns its `info`.
  static int factor_symmetric(int n, double* A, int stride, double* off_diagonal, int* pivots, double* work,
                              int work_size);

 private:
  int threads_;
};

}  // namespace pliant::dense
