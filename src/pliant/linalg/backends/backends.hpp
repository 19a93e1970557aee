#pragma once

#include "pliant/linalg/direct_solver.hpp"

namespace pliant {

/// Supernodal LL^T of SuiteSparse's CHOLMOD with METIS; indefinite matrices are refused as not positive definite.
std::unique_ptr<DirectSolver> make_cholmod_solver();
/// LL^T and pivoted LDL^T of the sequential MUMPS with METIS, solutions as they come, without refinement.
std::unique_ptr<DirectSolver> make_mumps_solver();

}  // namespace pliant
