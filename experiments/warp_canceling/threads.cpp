// Table III of warp-canceling: the stages of a step over the number of threads, on the dropped sculpture.

#include <oneapi/tbb/global_control.h>

#include <fmt/format.h>

#include <thread>

#include "experiments/other_load.hpp"
#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

void run_threads(Context& context) {
  // The caption prints 1e6 Pa, but its total is that of Table I's 5e6.
  const auto model = sculpture(static_cast<Index>(context.number("across")), 5e6);
  const std::vector<int> threads = context.integers("threads");
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  std::map<int, Measured> runs;
  const OtherLoad others;
  for (int count : threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
    const Frames frames = record(context, model, paper_wc(5e-3), 0.01, static_cast<int>(context.number("steps")));
    if (context.stopped()) return;
    runs[count] = frames.measured;
    Json row = {{"threads", count}, {"cores", cores}, {"tets", model->bodies()[0].mesh->tets().size()}};
    row.update(measured_row(runs[count]));
    row.update(stage_columns(runs[count]));
    context.row(row);
  }
  const auto total = [&](int count) { return runs.at(1).average_ms() / runs.at(count).average_ms(); };
  const auto stage = [&](int count, const char* name) {
    return runs.at(1).mean_ms(name) / runs.at(count).mean_ms(name);
  };
  const auto can = [&](int count) { return cores >= count && runs.contains(count) && runs.contains(1); };
  const double busy = others.cores();
  Decision all("warp-canceling/table-3/total"), stages("warp-canceling/table-3/stages"),
      saturates("warp-canceling/table-3/solve-saturates");
  all.needs(can(2), "the machine has two cores");
  stages.needs(can(2), "the machine has two cores");
  for (Decision* d : {&all, &stages})
    d->needs(busy <= 0.1, fmt::format("free cores (other programs kept {:.2g} busy)", busy))
        .note("cores that other programs kept busy", busy);
  saturates.needs(can(4) && can(8), fmt::format("the machine has 8 cores (it has {})", cores));
  if (can(2)) {
    all.at_least("speed-up with 2 threads", total(2), 1.6);
    stages.at_least("element rotations, 2 threads", stage(2, "element_rotations"), 1.8)
        .at_least("node rotations, 2 threads", stage(2, "node_rotations"), 1.6)
        .at_least("Cholesky update, 2 threads", stage(2, "cholesky_update"), 1.6)
        .above("Cholesky update over solution, 2 threads", stage(2, "cholesky_update") / stage(2, "solve"), 1);
  }
  if (can(4))
    all.at_least("speed-up with 4 threads", total(4), 2.6),
        stages.at_most("solution, 4 threads", stage(4, "solve"), 2)
            .at_least("Cholesky update, 4 threads", stage(4, "cholesky_update"), 2.5);
  if (can(8))
    all.at_least("speed-up with 8 threads", total(8), 3.1),
        stages.at_least("Cholesky update, 8 threads", stage(8, "cholesky_update"), 3.3);
  if (can(4) && can(8))
    saturates.at_most("solution with 4 over 8 threads", stage(8, "solve") / stage(4, "solve"), 1.1)
        .at_most("total with 4 over 8 threads", total(8) / total(4), 1.4);
  context.decide(all);
  context.decide(stages);
  context.decide(saturates);
}

}  // namespace

Experiment threads_experiment() {
  return {"warp-canceling/threads",
          "Stages of a step over the number of threads (Table III)",
          {{"across", "5", "3", "cells across a strut of the sculpture"},
           {"threads", "1,2,4,8", "1,2", "numbers of threads"},
           {"steps", "60", "30", "frames"}},
          run_threads,
          true};
}

}  // namespace pliant::experiments
