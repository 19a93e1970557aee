// A process that runs out of memory in the middle of a step goes on: the step says so and leaves the state alone, and
// the next one, with memory, has the bits that it would have had.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "pliant/solvers/catalogue.hpp"
#include "support/models.hpp"
#include "support/solver_names.hpp"

namespace pliant {
namespace out_of_memory {
namespace {

#if !defined(__SANITIZE_ADDRESS__)  // which reserves terabytes of addresses for itself

constexpr double kStep = 0.01;

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return 4096 * pages;
}

/// A limit on what the process may have more, until it goes.
class Limit {
 public:
  explicit Limit(std::size_t more) {
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = address_space() + more;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~Limit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

/// Takes what the heap has of earlier arrays, which would be handed out again whatever the limit.
void use_up_freed_memory() {
  static std::vector<void*> taken;  // for good
  // In hundreds: asking takes as long as there are pieces.
  for (std::size_t size = std::size_t{1} << 20U; size >= 4096; size /= 2)
    for (bool grew = false; !grew;) {
      const struct mallinfo2 before = mallinfo2();
      for (int k = 0; k < 100; ++k) taken.push_back(std::malloc(size));
      const struct mallinfo2 after = mallinfo2();
      grew = after.arena != before.arena || after.hblkhd != before.hblkhd;
    }
}

std::shared_ptr<const Model> bar(const std::string& law) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  BodyOptions body;
  body.mesh = testing::box_mesh({1, 0.5, 0.5}, {10, 5, 5});
  body.material = testing::material(law, 2e5, 0.35);
  builder.add_body(body);
  builder.add_pin({"wall", builder.body(0).elements->nodes_of(body.mesh->sets().at("x-min"))});
  return builder.build();
}

/// 0, or the line of what was not as it should be.
#define REQUIRE(condition) \
  if (!(condition))        \
  return std::fprintf(stderr, "%s: %s; %s\n", name.c_str(), #condition, report.detail.c_str()), __LINE__

int starve(const std::string& name) {
  const auto model = bar(testing::law_for(name));
  const auto equal = [](const State& a, const State& b) { return a.x == b.x && a.v == b.v && a.step == b.step; };
  State expected = model->rest_state();
  StepReport report;
  REQUIRE(make_stepper(model, name)->step(expected, kStep).advanced());
  // Every array comes from the system, which refuses it: nothing is served from what was freed before.
  mallopt(M_MMAP_THRESHOLD, 4096);
  mallopt(M_TOP_PAD, 0);
  bool ran_out = false;
  for (std::size_t more : {0, 64, 256, 1024, 4096}) {
    auto stepper = make_stepper(model, name);
    State state = model->rest_state();
    use_up_freed_memory();
    {
      const Limit limit(more << 10U);
      report = stepper->step(state, kStep);
    }
    if (report.outcome == Outcome::out_of_memory) {
      ran_out = true;
      REQUIRE(equal(state, model->rest_state()));
      REQUIRE(!report.detail.empty());
      if (stepper->is_spoilt()) {
        REQUIRE(stepper->step(state, kStep).outcome == Outcome::out_of_memory);
        REQUIRE(equal(state, model->rest_state()));
        stepper = make_stepper(model, name);
      }
      report = stepper->step(state, kStep);
    }
    REQUIRE(report.advanced());
    REQUIRE(equal(state, expected));
  }
  REQUIRE(ran_out);
  return 0;
}

class StarvedDeathTest : public ::testing::TestWithParam<std::string> {};

TEST_P(StarvedDeathTest, SaysSoLeavesTheStateAloneAndGoesOnWithMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, whose limit harms no other test
  EXPECT_EXIT(std::exit(starve(GetParam()) == 0 ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Solvers, StarvedDeathTest, ::testing::ValuesIn(testing::solver_names()),
                         [](const auto& instance) { return testing::identifier(instance.param); });

#endif

}  // namespace
}  // namespace out_of_memory
}  // namespace pliant
