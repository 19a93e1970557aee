#include "../processes.hpp"

#include <petscsys.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "pliant/base/error.hpp"
#include "pliant/distributed/distributed_stepper.hpp"

namespace pliant::app {

namespace {

/// What the launchers of Open MPI, MPICH and Slurm leave in the environment of the processes they start.
bool is_under_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name)) return true;  // NOLINT(concurrency-mt-unsafe): nobody changes the environment
  return false;
}

class MpiProcesses final : public Processes {
 public:
  explicit MpiProcesses(const std::string& options) {
    PetscOptionsSetValue(nullptr, "-no_signal_handler", "true");  // Ctrl-C and SIGTERM are the program's
    if (PetscInitializeNoArguments() != 0) throw std::runtime_error("PETSc does not start");
    if (!options.empty()) PetscOptionsInsertString(nullptr, options.c_str());
    team_.emplace(PETSC_COMM_WORLD);
  }
  ~MpiProcesses() override {
    if (is_first() && !has_begun_) team_->agree(false);
    stepper_.reset();
    newton_.reset();
    PetscFinalize();
  }

  bool is_first() const override { return team_->is_first(); }

  void serve(const std::function<Scene()>& load) override {
    // The first ends the run in good order; meanwhile its helpers stay.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
    if (!team_->agree(false)) return;  // it says why
    try {
      std::optional<Simulation> whole(load());
      try {
        newton_ = std::make_unique<DistributedNewton>(*team_, *whole->model(), distributed_options(*whole));
      } catch (const InputError&) {  // the first says the same
        return;
      }
      whole.reset();
      pliant::serve(*newton_);
    } catch (const std::exception& error) {
      leave(error.what());
    }
  }

  void begin(Simulation& simulation, RunOptions& options) override {
    const NewtonOptions newton = distributed_options(simulation);
    check_divisible(*simulation.model());
    has_begun_ = true;
    team_->agree(true);
    newton_ = std::make_unique<DistributedNewton>(*team_, *simulation.model(), newton);
    stepper_ = std::make_unique<DistributedStepper>(simulation.model(), *newton_, newton);
    stepper_->set_control(options.control);
    options.step = [this, &simulation] {
      try {
        return pliant::step(simulation, *stepper_);
      } catch (const std::exception& error) {
        leave(error.what());  // in the middle of a step, where the others wait for this one
      }
    };
  }

  void finish(const std::filesystem::path& folder) override {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ProcessWork& work : stepper_->work())
      list.push_back({{"nodes", work.nodes},
                      {"copies_of_others", work.shared_nodes},
                      {"elements", work.elements},
                      {"neighbours", work.neighbours},
                      {"evaluation_seconds", work.evaluation_seconds},
                      {"messages", work.messages},
                      {"bytes", work.bytes},
                      {"reductions", work.reductions}});
    std::ofstream(folder / "processes.json") << list.dump(2) << '\n';
    stepper_.reset();
  }

 private:
  [[noreturn]] void leave(const char* why) {
    std::fprintf(stderr,
                 "error: process %d of %d: %s\nall processes end; continue from the last checkpoint with --resume\n",
                 team_->rank(), team_->size(), why);
    MPI_Abort(team_->comm(), 1);
    std::abort();
  }

  std::optional<Team> team_;
  std::unique_ptr<DistributedNewton> newton_;
  std::unique_ptr<DistributedStepper> stepper_;
  bool has_begun_ = false;
};

}  // namespace

std::unique_ptr<Processes> Processes::join(const std::string& options) {
  if (is_under_mpirun()) return std::make_unique<MpiProcesses>(options);
  if (!options.empty()) throw InputError("--petsc is for several processes: mpirun -n N pliant run ...");
  return nullptr;
}

}  // namespace pliant::app
