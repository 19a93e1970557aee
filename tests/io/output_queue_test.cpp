#include "pliant/io/output_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace pliant {
namespace {

TEST(OutputQueue, RunsJobsInOrderAndWaitsForAll) {
  std::vector<int> done;
  OutputQueue queue;
  for (int i = 0; i < 20; ++i)
    queue.post([&done, i] {
      if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      done.push_back(i);
    });
  queue.wait();
  ASSERT_EQ(done.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(OutputQueue, ThrowsWhatAJobThrewAndDropsThoseBehindIt) {
  std::atomic<int> after = 0;
  OutputQueue queue;
  bool thrown = false;
  try {
    queue.post([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      throw std::runtime_error("the disk is full");
    });
    queue.post([&] { ++after; });
    queue.wait();
  } catch (const std::runtime_error& error) {
    thrown = std::string(error.what()) == "the disk is full";
  }
  EXPECT_TRUE(thrown);
  EXPECT_EQ(after, 0);
  queue.post([&] { ++after; });
  queue.wait();
  EXPECT_EQ(after, 1);
}

TEST(OutputQueue, EndsWithWhatIsUnderWay) {
  std::atomic<int> done = 0;
  {
    OutputQueue queue;
    for (int i = 0; i < 3; ++i) queue.post([&] { ++done; });
  }
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace pliant
