#pragma once

namespace pliant::dense {

/// Makes OpenBLAS, whose LAPACK factors the pivot blocks of an L D L^T, stay on the calling thread: tasks are ours.
void use_one_thread();

}  // namespace pliant::dense
