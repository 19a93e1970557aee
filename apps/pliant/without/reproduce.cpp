// `reproduce` of a program that was built without the experiments.
#include "../commands.hpp"
#include "pliant/base/error.hpp"

namespace pliant::app {

void add_reproduce(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command = app.add_subcommand("reproduce", "Run a paper's experiment (not in this build)");
  command->allow_extras();
  command->callback([] {
    throw InputError(
        "this program was built without the experiments; scripts/build builds them in, as does "
        "cmake -DPLIANT_EXPERIMENTS=ON");
  });
}

}  // namespace pliant::app
