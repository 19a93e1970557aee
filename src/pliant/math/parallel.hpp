#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <vector>

#include "pliant/base/step_control.hpp"
#include "pliant/math/types.hpp"

namespace pliant {

/// Lets oneTBB find out how many cores there are, which it does at its first use. Where memory ends in the middle of
/// that, every later use waits for ever (oneTBB 2021.8): a program that is to outlive a lack of memory calls this when
/// it begins.
void find_cores();

/// Runs body(begin, end) over the chunks [k grain, (k+1) grain) of [0, count), in parallel. The chunks depend on
/// `grain` alone, never on the number of threads: whatever is computed per chunk has the same bits on one thread and on
/// many. Inside a step it asks in every chunk whether the step shall end, and throws Interrupted then.
template <class Body>
void for_chunks(Index count, Index grain, Body&& body) {
  const Index chunks = (count + grain - 1) / grain;
  StepControl::check();
  if (chunks <= 1) {
    if (count > 0) body(Index{0}, count);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<Index>(0, chunks, 1), [&](const tbb::blocked_range<Index>& range) {
    for (Index k = range.begin(); k != range.end(); ++k) {
      StepControl::check();
      body(k * grain, std::min(count, (k + 1) * grain));
    }
  });
}

/// The sum of body(begin, end) over the same chunks, added up in their order.
template <class Body>
double sum_chunks(Index count, Index grain, Body&& body) {
  const Index chunks = (count + grain - 1) / grain;
  std::vector<double> partial(static_cast<std::size_t>(chunks), 0.0);
  for_chunks(count, grain,
             [&](Index begin, Index end) { partial[static_cast<std::size_t>(begin / grain)] = body(begin, end); });
  double sum = 0;
  for (double p : partial) sum += p;
  return sum;
}

}  // namespace pliant
