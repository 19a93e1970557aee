#include "pliant/math/stages.hpp"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <stdexcept>

namespace pliant {
namespace {

TEST(Stages, RunEveryItemOnceAndEachStageAfterTheOneBefore) {
  const std::vector<Index> items = {100, 0, 7, 33, 1};
  Stages stages(items, 4);
  for (int threads : {1, 2, 4}) {
    tbb::task_arena arena(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<int>> seen(items.size());
      std::atomic<int> early = 0;
      arena.execute([&] {
        stages.run([&](Index stage, Index begin, Index end) {
          for (std::size_t before = 0; before < static_cast<std::size_t>(stage); ++before)
            if (seen[before] != items[before]) ++early;
          seen[static_cast<std::size_t>(stage)] += end - begin;
        });
      });
      EXPECT_EQ(early, 0);
      for (std::size_t s = 0; s < items.size(); ++s) EXPECT_EQ(seen[s], items[s]);
    }
  }
}

TEST(Stages, ThrowWhatTheirBodyThrows) {
  Stages stages({40, 40}, 4);
  EXPECT_THROW(stages.run([](Index stage, Index, Index) {
    if (stage == 1) throw std::runtime_error("stopped");
  }),
               std::runtime_error);
}

}  // namespace
}  // namespace pliant
