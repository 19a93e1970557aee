#include "pliant/linalg/blas_threads.hpp"

#include <cblas.h>

namespace pliant::dense {

void use_one_thread() { [[maybe_unused]] static const bool done = (openblas_set_num_threads(1), true); }

}  // namespace pliant::dense
