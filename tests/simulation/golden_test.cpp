// The bits of a lively scene under every solver, the same for any number of threads, in every build of the same
// compiler, and as they were when they were written down (tests/simulation/golden; docs/architecture.md, "Same bits").
//
//   build/test_simulation --gtest_filter='Golden*'                        looks at the best instruction set
//   PLIANT_GOLDEN=all build/test_simulation --gtest_filter='Golden*'      at all that this processor has
//   PLIANT_GOLDEN=write build/test_simulation --gtest_filter='Golden*'    writes them down anew, where other results
//   are
//                                                                         meant; commit the files with what changed
//                                                                         them
#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "pliant/base/bytes.hpp"
#include "pliant/base/error.hpp"
#include "pliant/simulation/simulation.hpp"
#include "support/simd_targets.hpp"

namespace pliant {
namespace {

constexpr int kSteps = 6;
constexpr const char* kHowToWrite =
    "PLIANT_GOLDEN=write build/test_simulation --gtest_filter='Golden*' writes them down anew";

struct Lively {
  const char* name;
  const char* text;
};

/// Each long enough for several chunks in every parallel loop.
constexpr Lively kLively[] = {
    {"collider",
     "[[collider]]\nsphere = {centre = [0.8, -0.35, 0.15], radius = 0.3}\nfriction = 0.3\n[simulation]\ncolliders = "
     "\"penalty\"\n"},
    {"contact",
     "[[collider]]\nsphere = {centre = [0.8, -0.33, 0.15], radius = 0.3}\n[contact]\ndhat = 0.02\nfriction = "
     "0.3\n[simulation]\n"},
    {"cut", "[[cut]]\ntime = 0.03\nplane = {point = [0.5, 0, 0], normal = [1, 0.2, 0]}\n[simulation]\n"},
    {"muscle",
     "[[body.fibres]]\nlaw = \"muscle\"\nstiffness = 4e4\nshape = 1.4\nfield = \"horizontal\"\nmuscle = "
     "\"pull\"\n[[muscle]]\nname = \"pull\"\nactivation = [[0, 0], [0.05, 1]]\n[simulation]\n"},
};

std::string scene_text(const Lively& lively, const std::string& solver) {
  return "version = 1\n[[body]]\nbox = {size = [1, 0.3, 0.3], cells = [10, 4, 4]}\nmaterial = "
         "\"fixed-corotated\"\nyoung = "
         "1e5\npoisson = 0.3\nvelocity = [0, -1, 0]\n" +
         std::string(lively.text) + "dt = 0.015625\nframes = " + std::to_string(kSteps) +
         "\n[[pin]]\nwhere = \"x-min\"\n[solver]\non_failure = \"continue\"\nname = \"" + solver + "\"\n";
}

/// After some steps; nothing where the solver does not take the scene.
std::optional<State> state_after(const Lively& lively, const std::string& solver, std::size_t threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  std::optional<Simulation> simulation;
  try {
    simulation.emplace(parse_scene(scene_text(lively, solver), "golden"));
  } catch (const InputError&) {
    return std::nullopt;
  }
  for (int k = 0; k < kSteps; ++k) simulation->step();
  EXPECT_EQ(simulation->state()->step, kSteps) << lively.name << " " << solver;
  return *simulation->state();
}

std::optional<std::uint64_t> hash_of(const Lively& lively, const std::string& solver, std::size_t threads) {
  const std::optional<State> state = state_after(lively, solver, threads);
  if (!state) return std::nullopt;
  const auto bytes = [](const VecX& x) {
    return std::string_view(reinterpret_cast<const char*>(x.data()),
                            static_cast<std::size_t>(x.size()) * sizeof(double));
  };
  return checksum(bytes(state->v), checksum(bytes(state->x)));
}

#if defined(__AVX512F__)
constexpr const char* kCompiledFor = "avx512";
#elif defined(__AVX2__)
constexpr const char* kCompiledFor = "avx2";
#else
constexpr const char* kCompiledFor = "base";
#endif

/// What else the bits depend on: the compiler and what it compiled for, the C library's functions, OpenBLAS and which
/// of its kernels this processor gets.
std::string surroundings() {
#if defined(__clang__)
  const std::string compiler = fmt::format("clang{}", __clang_major__);
#else
  const std::string compiler = fmt::format("gcc{}", __GNUC__);
#endif
  std::string blas = "none";
  if (void* library = dlopen("libopenblas.so.0", RTLD_LAZY)) {
    using Text = char* (*)();
    const auto config = reinterpret_cast<Text>(dlsym(library, "openblas_get_config"));
    const auto core = reinterpret_cast<Text>(dlsym(library, "openblas_get_corename"));
    // "OpenBLAS 0.3.21 NO_LAPACKE ..."
    if (config && core) {
      std::istringstream words(config());
      std::string name, version;
      words >> name >> version;
      blas = version + "-" + core();
    }
  }
  return fmt::format("{}-{}-glibc{}-openblas{}", compiler, kCompiledFor, gnu_get_libc_version(), blas);
}

std::filesystem::path golden_file(const std::string& target) {
  return std::filesystem::path(PLIANT_SOURCE_DIR) / "tests/simulation/golden" /
         fmt::format("{}-{}.txt", target, surroundings());
}

using Table = std::map<std::string, std::string>;

Table read_table(const std::filesystem::path& file) {
  Table table;
  std::ifstream in(file);
  for (std::string solver, scene, hash; in >> solver >> scene >> hash;) table[solver + " " + scene] = hash;
  return table;
}

/// Of all solvers and scenes, after a look that threads do not matter.
Table measure(const std::vector<std::size_t>& threads) {
  Table table;
  for (const SolverEntry& solver : solver_catalogue())
    for (const Lively& lively : kLively) {
      const auto one = hash_of(lively, solver.name, 1);
      if (!one) continue;
      table[solver.name + " " + lively.name] = fmt::format("{:016x}", *one);
      for (std::size_t count : threads)
        EXPECT_EQ(*one, hash_of(lively, solver.name, count).value_or(0))
            << solver.name << ", " << lively.name << ", " << count << " threads";
    }
  return table;
}

TEST(Golden, EverySolverGivesTheSameBitsForAnyNumberOfThreadsAndAsBefore) {
  const char* wish = std::getenv("PLIANT_GOLDEN");
  const std::string how = wish ? wish : "";
  const std::string best = hwy::TargetName(hwy::SupportedAndGeneratedTargets().front());
  const auto look = [&](const std::string& target, const std::vector<std::size_t>& threads) {
    SCOPED_TRACE(target);
    const Table measured = measure(threads);
    EXPECT_GE(measured.size(), 30u);
    if (how == "write") {
      if (::testing::Test::HasFailure()) return;  // what depends on threads is not to be kept
      std::filesystem::create_directories(golden_file(target).parent_path());
      std::ofstream out(golden_file(target));
      for (const auto& [what, hash] : measured) out << what << " " << hash << "\n";
      return;
    }
    const Table golden = read_table(golden_file(target));
    if (golden.empty()) {
      GTEST_LOG_(INFO) << "no bits were written down for " << golden_file(target).filename();
      return;
    }
    for (const auto& [what, hash] : measured) {
      const auto found = golden.find(what);
      if (found == golden.end())
        ADD_FAILURE() << what << " is not in " << golden_file(target) << "; " << kHowToWrite;
      else
        EXPECT_EQ(found->second, hash) << what << ": other bits than before; where that is meant, " << kHowToWrite;
    }
  };
  if (how.empty()) return look(best, {4});
  testing::for_each_target([&](const char* target) { look(target, {2, 4}); });
}

// What docs/architecture.md promises across instruction sets: not the bits, but the positions, to rounding as far as
// the solver itself goes on from it. Solvers that stop at a tolerance may stop an iteration apart.
TEST(Golden, InstructionSetsAgreeToRounding) {
  for (const char* solver : {"pod-newton", "quasi-newton", "warp-canceling", "conjac", "fp-pxpbd"})
    for (const Lively& lively : kLively) {
      std::optional<State> first;
      testing::for_each_target([&](const char* target) {
        const std::optional<State> state = state_after(lively, solver, 2);
        if (!first) first = state;
        if (!state) return;
        EXPECT_LT((state->x - first->x).cwiseAbs().maxCoeff(), 1e-7)  // m, of a body of 1 m
            << solver << ", " << lively.name << ", " << target;
      });
    }
}

}  // namespace
}  // namespace pliant
