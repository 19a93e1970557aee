#include "../processes.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "pliant/base/error.hpp"

namespace pliant::app {

namespace {

/// The same command by the program that lies beside this one; comes back only where there is none.
void go_on_as_pliant_mpi() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (error || words.empty()) return;
  const std::string program = (self.parent_path() / "pliant-mpi").string();
  std::vector<char*> arguments;
  for (std::size_t begin = 0; begin < words.size(); begin = words.find('\0', begin) + 1)
    arguments.push_back(words.data() + begin);
  arguments.push_back(nullptr);
  setenv("OPENBLAS_NUM_THREADS", "1", 0);  // NOLINT(concurrency-mt-unsafe): MUMPS's; the processes are the threads
  execv(program.c_str(), arguments.data());
}

}  // namespace

std::unique_ptr<Processes> Processes::join(const std::string& options) {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody changes the environment
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  // What the launchers of Open MPI, MPICH and Slurm leave there.
  const bool is_launched = size || std::getenv("PMIX_RANK") || std::getenv("PMI_RANK");
  // NOLINTEND(concurrency-mt-unsafe)
  if (is_launched || !options.empty()) go_on_as_pliant_mpi();
  if (!options.empty()) throw InputError("--petsc needs pliant-mpi, of a build with -DPLIANT_PETSC=ON (docs/scale.md)");
  if (size && std::atoi(size) > 1)
    throw InputError(
        "pliant runs on one machine: under mpirun, every process would run the whole scene. Several processes need "
        "pliant-mpi beside it, of a build with -DPLIANT_PETSC=ON (docs/scale.md)");
  return nullptr;
}

}  // namespace pliant::app
