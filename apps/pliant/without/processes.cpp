#include "../processes.hpp"

#include <cstdlib>

#include "pliant/base/error.hpp"

namespace pliant::app {

std::unique_ptr<Processes> Processes::join(const std::string& options) {
  if (!options.empty()) throw InputError("--petsc needs a build with -DPLIANT_PETSC=ON, and mpirun (docs/scale.md)");
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes the environment
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (size && std::atoi(size) > 1)
    throw InputError(
        "this build of pliant runs on one machine: under mpirun, every process would run the whole scene; build with "
        "-DPLIANT_PETSC=ON (docs/scale.md)");
  return nullptr;
}

}  // namespace pliant::app
