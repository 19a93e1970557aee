#include "../processes.hpp"

#include <fmt/format.h>
#include <petscsys.h>

#include <csignal>
#include <optional>

#include "pliant/base/error.hpp"
#include "pliant/base/memory.hpp"
#include "pliant/distributed/distributed_simulation.hpp"
#include "pliant/distributed/petsc_session.hpp"

namespace pliant::app {

namespace {

class MpiProcesses final : public Processes {
 public:
  explicit MpiProcesses(const std::string& options) : session_(options), team_(PETSC_COMM_WORLD) {
    if (is_first()) return;
    // The first ends the run in good order; meanwhile its helpers stay.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGTERM, SIG_IGN);
  }
  bool is_first() const override { return team_.is_first(); }
  int threads() const override { return team_.threads(); }

  Simulation& simulate(const std::function<Scene()>& load) override {
    all_.emplace(team_, load);
    return all_->simulation();
  }

  std::vector<ProcessFigures> figures() override {
    std::vector<ProcessFigures> list;
    for (const ProcessWork& work : all_->work()) list.push_back(pliant::figures(work));
    return list;
  }

  std::string describe() const override {
    const DivisionSeconds& s = all_->seconds();
    return fmt::format(
        "  processes     {}, {} nodes in all{}; read in {:.1f} s, divided in {:.1f} s, built in {:.1f} s\n",
        team_.size(), all_->all_nodes(), all_->was_made_in_parts() ? ", made in parts" : "", s.reading, s.dividing,
        s.building);
  }

  [[noreturn]] void abort(const char* why) override {
    std::fprintf(stderr,
                 "error: process %d of %d: %s\nall processes end; continue from the last checkpoint with --resume\n",
                 team_.rank(), team_.size(), why);
    MPI_Abort(team_.comm(), 1);
    std::abort();
  }

 private:
  PetscSession session_;
  Team team_;
  std::optional<DistributedSimulation> all_;
};

}  // namespace

std::unique_ptr<Processes> Processes::join(const std::string& options) {
  if (is_under_mpirun()) return std::make_unique<MpiProcesses>(options);
  if (!options.empty()) throw InputError("--petsc is for several processes: mpirun -n N pliant run ...");
  return nullptr;
}

}  // namespace pliant::app
