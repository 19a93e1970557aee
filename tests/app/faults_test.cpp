// Every write, fsync, rename and open of a small run fails once, and allocations all over it: the program ends with a
// message, and a run that is resumed then has the bits of one that nothing happened to (tests/faults/faults.cpp).
#include <algorithm>
#include <iostream>

#include "app/program.hpp"

namespace pliant::test {
namespace {

constexpr const char* kFaultyScene = R"(name = "fault"
[simulation]
fps = 60
frames = 6
[[body]]
box = {size = [2, 1, 1], cells = [2, 1, 1]}
young = 1e5
poisson = 0.4
[[pin]]
where = "x-min"
[output]
pictures = false
checkpoint_every = 2
)";

/// The campaigns of scripts/nightly have as long as PLIANT_CAMPAIGN_SECONDS says.
bool time_is_over(std::chrono::steady_clock::time_point begin) {
  const char* wish = std::getenv("PLIANT_CAMPAIGN_SECONDS");
  return wish && std::chrono::steady_clock::now() - begin > std::chrono::seconds(std::atol(wish));
}

/// For its page.
void tell(const std::string& what) {
  if (std::getenv("PLIANT_CAMPAIGN_SECONDS")) std::cout << "campaign: " << what << std::endl;
}

class Faults : public testing::Test {
 protected:
  void SetUp() override {
    if (PLIANT_IS_SANITIZED) GTEST_SKIP() << "sanitizers have allocators of their own";
    folder_ = fresh_folder("faults_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    scene_ = folder_ / "fault.toml";
    std::ofstream(scene_) << kFaultyScene;
    ASSERT_EQ(run(folder_, {"run", scene_, "--out", folder_ / "whole", "--threads", "2"}).code, 0);
  }

  Ended run_with(const std::string& fault, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"run", scene_, "--out", folder_ / "out", "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Program(folder_, arguments, {},
                   {"LD_PRELOAD=" PLIANT_FAULTS, "PLIANT_FAULT=" + fault,
                    "PLIANT_FAULT_COUNT=" + (folder_ / "count").string()})
        .wait();
  }

  /// How often a run makes the call.
  long count(const std::string& call) const {
    std::filesystem::remove_all(folder_ / "out");
    EXPECT_EQ(run_with(call + ":0").code, 0);
    return std::atol(content(folder_ / "count").c_str());
  }

  /// The n-th call fails, or the program is killed there; then the run is resumed, or begun again where nothing could
  /// be saved.
  void expect_recovery(const std::string& call, long n, const std::string& kind = "") const {
    SCOPED_TRACE(call + " " + std::to_string(n) + kind);
    std::filesystem::remove_all(folder_ / "out");
    const Ended ended = run_with(call + ":" + std::to_string(n) + kind);
    if (kind.empty()) {
      EXPECT_EQ(ended.signal, 0) << ended.err;
      EXPECT_TRUE(ended.code >= 0 && ended.code <= 2) << ended.code << "\n" << ended.err;
      if (ended.code != 0) {
        EXPECT_FALSE(ended.err.empty());
      }
    } else {
      EXPECT_EQ(ended.signal, SIGKILL);
    }
    Ended again = run(folder_, {"run", scene_, "--out", folder_ / "out", "--threads", "2", "--resume"});
    if (again.code != 0) {
      EXPECT_NE(again.err.find("no usable checkpoint"), std::string::npos) << again.err;
      again = run(folder_, {"run", scene_, "--out", folder_ / "out", "--threads", "2", "--force"});
    }
    EXPECT_EQ(again.code, 0) << again.err;
    for (const char* file : {"frames/frame_000006.vtu", "frames/frame_000003.vtu", "result.pvd"})
      EXPECT_EQ(content(folder_ / "whole" / file), content(folder_ / "out" / file)) << file;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "out/frames"), {}), 7);
  }

  std::filesystem::path folder_, scene_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

TEST_F(Faults, EveryCallThatWritesMayFailOnce) {
  for (const std::string call : {"write", "fsync", "rename"}) {
    const long calls = count(call);
    EXPECT_GE(calls, 3) << call;
    // All of them in the nightly campaign; here every third, with the first and the last.
    const long stride = std::getenv("PLIANT_ALL_FAULTS") ? 1 : 3;
    for (long n = 1; n <= calls; n += stride) expect_recovery(call, n);
    expect_recovery(call, calls);
    tell("each of " + std::to_string(calls) + " calls of " + call + " failed once");
  }
}

TEST_F(Faults, AllocationsMayFailAnywhere) {
  const long calls = count("allocate");
  EXPECT_GT(calls, 1000);
  const char* wish = std::getenv("PLIANT_ALLOCATION_FAULTS");
  const long times = wish ? std::min(calls, std::atol(wish)) : 30;
  // All over the run, whenever it ends: steps of a golden section of it.
  const auto stride = static_cast<long>(0.6180339887 * static_cast<double>(calls));
  long k = 0;
  for (; k < times && !time_is_over(begin_); ++k) expect_recovery("allocate", 1 + k * stride % calls);
  tell(std::to_string(k) + " of " + std::to_string(calls) + " allocations failed once");
}

TEST_F(Faults, KilledAtTwentyCallsTheRunGoesOnWithTheSameBits) {
  const char* wish = std::getenv("PLIANT_KILLS");
  const long times = wish ? std::atol(wish) : 20;
  const long writes = count("write"), renames = count("rename"), allocations = count("allocate");
  long k = 0;
  for (; k < times && !time_is_over(begin_); ++k) {
    if (k % 4 == 0)
      expect_recovery("write", 1 + k * 7 % writes, ":k");
    else if (k % 4 == 1)
      expect_recovery("rename", 1 + k * 5 % renames, ":k");
    else
      expect_recovery("allocate", 1 + (k * 7919L + 13) % allocations, ":k");
  }
  tell(std::to_string(k) + " kills, each resumed with the same bits");
}

}  // namespace
}  // namespace pliant::test
