#pragma once

#include <string>

namespace pliant {

/// Whether this process is one of several: what the launchers of Open MPI, MPICH and Slurm leave in the environment.
bool is_under_mpirun();

/// MPI and PETSc, from its beginning to its end; once in a process. Systems of PETSc's that are still there at its end
/// are left to the end of the process.
class PetscSession {
 public:
  /// With options of PETSc's, as in PETSC_OPTIONS; may be empty.
  explicit PetscSession(const std::string& options = {});
  PetscSession(const PetscSession&) = delete;
  PetscSession& operator=(const PetscSession&) = delete;
  ~PetscSession();
};

}  // namespace pliant
