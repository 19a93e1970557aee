// Table III of warp-canceling: the stages of a step over the number of threads, on the dropped sculpture.

#include <oneapi/tbb/global_control.h>

#include <fmt/format.h>

#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

void run_threads(Context& context) {
  const auto model = sculpture(static_cast<Index>(context.number("across")), 1e6);
  const std::vector<int> threads = context.integers("threads");
  double one = 0, last = 0;
  for (std::size_t k = 0; k < threads.size(); ++k) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads[k]));
    const Measured m = simulate(context, model, {fmt::format("{} threads", threads[k]), "warp-canceling"}, 0.01,
                                static_cast<int>(context.number("steps")), double(k) / double(threads.size()),
                                double(k + 1) / double(threads.size()));
    if (context.stopped()) return;
    Json row = {{"threads", threads[k]}, {"tets", model->bodies()[0].mesh->tets().size()}};
    row.update(measured_row(m));
    row.update(stage_columns(m));
    row["published_ms"] = threads[k] == 1 ? 2257 : threads[k] == 2 ? 1385 : threads[k] == 4 ? 885 : 728;
    context.row(row);
    if (k == 0) one = m.average_ms();
    last = m.average_ms();
  }
  if (threads.size() > 1)
    context.check({fmt::format("{} threads over one", threads.back()), "1.6x with 2, 2.6x with 4, 3.1x with 8",
                   one / last, one / last >= 1.2});
}

}  // namespace

Experiment threads_experiment() {
  return {"warp-canceling/threads",
          "Stages of a step over the number of threads (Table III)",
          {{"across", "5", "3", "cells across a strut of the sculpture"},
           {"threads", "1,2,4,8", "1,2", "numbers of threads"},
           {"steps", "60", "30", "frames"}},
          run_threads};
}

}  // namespace pliant::experiments
