#include "pliant/io/output_queue.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>
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

/// In a process of its own, which may not have another stack.
[[noreturn]] void post_without_threads() {
  std::ifstream statistics("/proc/self/statm");
  rlim_t pages = 0;
  statistics >> pages;
  const rlim_t room = pages * static_cast<rlim_t>(sysconf(_SC_PAGE_SIZE)) + (1U << 20U);
  const rlimit limit{room, room};
  setrlimit(RLIMIT_AS, &limit);
  int done = 0;
  try {
    std::thread([] {}).join();
    _exit(2);  // there is one after all
  } catch (const std::system_error&) {
  }
  OutputQueue queue;
  for (int k = 0; k < 3; ++k) queue.post([&] { done = 10 * done + k + 1; });
  queue.wait();
  _exit(done == 123 ? 0 : 1);
}

TEST(OutputQueueDeathTest, WritesAtOnceWhereTheSystemHasNoThread) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need all addresses";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(post_without_threads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pliant
