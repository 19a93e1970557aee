#include "pliant/distributed/petsc_session.hpp"

#include <petscsys.h>

#include <cstdlib>
#include <stdexcept>

namespace pliant {

bool is_under_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name)) return true;  // NOLINT(concurrency-mt-unsafe): nobody changes the environment
  return false;
}

PetscSession::PetscSession(const std::string& options) {
  PetscOptionsSetValue(nullptr, "-no_signal_handler", "true");  // Ctrl-C and SIGTERM are the program's
  if (PetscInitializeNoArguments() != 0) throw std::runtime_error("PETSc does not start");
  if (!options.empty()) PetscOptionsInsertString(nullptr, options.c_str());
}

PetscSession::~PetscSession() { PetscFinalize(); }

}  // namespace pliant
