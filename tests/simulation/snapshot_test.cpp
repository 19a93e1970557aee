#include "pliant/simulation/snapshot.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "pliant/base/error.hpp"
#include "pliant/simulation/simulation.hpp"
#include "support/catalogue_scenes.hpp"

namespace pliant {
namespace {

using test::Feature;
using test::kFeatures;
using test::solver_settings;
using test::swinging_bar;

constexpr int kBefore = 4, kAfter = 5;  // the cut lies between

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Nothing where the solver refuses the scene.
std::optional<Simulation> simulation_of(const std::string& text) {
  try {
    return Simulation(parse_scene(text, "bar.toml"));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void take_steps(Simulation& simulation, int steps) {
  for (int k = 0; k < steps; ++k) {
    const StepReport report = simulation.step();
    ASSERT_TRUE(simulation.took(report)) << report.detail;
  }
}

void expect_same(const Simulation& a, const Simulation& b, const std::string& what) {
  EXPECT_EQ(a.state()->time, b.state()->time) << what;
  EXPECT_EQ(a.state()->step, b.state()->step) << what;
  ASSERT_EQ(a.state()->x.size(), b.state()->x.size()) << what;
  EXPECT_EQ(a.state()->x, b.state()->x) << what;
  EXPECT_EQ(a.state()->v, b.state()->v) << what;
}

class SnapshotOf : public ::testing::TestWithParam<std::string> {};

/// What goes on, what is restored in a new simulation by way of bytes, and what is taken back and steps again.
TEST_P(SnapshotOf, GoesOnWithTheSameBits) {
  const SolverEntry& solver = find_solver(GetParam());
  std::set<std::string_view> taken;
  for (const Feature& feature : kFeatures)
    for (const std::string& setting : solver_settings(solver)) {
      const std::string text = swinging_bar(feature, solver.name, setting);
      std::optional<Simulation> one = simulation_of(text);
      if (!one) continue;
      taken.insert(feature.name);
      const std::string what = std::string(feature.name) + ", " + solver.name + " " + setting;
      SCOPED_TRACE(what);
      take_steps(*one, kBefore);
      const std::string kept = to_bytes(one->snapshot());
      take_steps(*one, kAfter);
      Simulation other(parse_scene(text, "bar.toml"));
      other.restore(snapshot_from_bytes(kept));
      take_steps(other, kAfter);
      expect_same(other, *one, what + "restored in a new simulation");
      const std::string end = to_bytes(one->snapshot());
      take_steps(*one, 1);
      one->restore(snapshot_from_bytes(kept));
      take_steps(*one, kAfter);
      EXPECT_EQ(to_bytes(one->snapshot()), end) << what << "taken back";
    }
  for (const char* feature : {"plain", "mass damping", "collider", "cut", "script and release"})
    EXPECT_TRUE(taken.contains(feature)) << solver.name << ": " << feature;
}

TEST_P(SnapshotOf, TheStartBringsBackTheStart) {
  const std::string text = swinging_bar(kFeatures[0], GetParam());
  Simulation one(parse_scene(text, "bar.toml"));
  const Snapshot start = one.snapshot();
  take_steps(one, kAfter);
  const State end = *one.state();
  one.restore(start);
  take_steps(one, kAfter);
  EXPECT_EQ(one.state()->x, end.x);
  EXPECT_EQ(one.state()->v, end.v);
}

/// Grabs come from outside: whoever restores gives them back.
TEST_P(SnapshotOf, GoesOnWithTheSameBitsUnderAHandThatHoldsMovesAndLetsGo) {
  const std::string text = swinging_bar(kFeatures[2], GetParam());
  std::optional<Simulation> one = simulation_of(text);
  if (!one) one = simulation_of(swinging_bar(kFeatures[0], GetParam()));
  ASSERT_TRUE(one);
  const std::optional<Grab> found = grab_along_ray(*one->model(), one->model()->rest(), {0.9, 1, 0.07}, {0, -1, 0});
  ASSERT_TRUE(found);
  Grab held = *found;
  held.stiffness = 2000;
  // The last step under the hand, one with it elsewhere, and one without it, each first after the snapshot.
  const auto play = [&](Simulation& simulation, int from, int to) {
    for (int step = from; step < to; ++step) {
      Grab grab = held;
      grab.target = Vec3(0.9, step < 5 ? 0.3 : 0.4, 0.1);
      simulation.state()->grabs.assign(step < 6 ? 1 : 0, grab);
      take_steps(simulation, 1);
    }
  };
  for (int at : {4, 5, 6}) {
    Simulation reference(one->built()), other(one->built());
    play(reference, 0, at);
    other.restore(reference.snapshot());
    play(reference, at, 9);
    play(other, at, 9);
    expect_same(other, reference, GetParam() + ", snapshot after step " + std::to_string(at));
  }
}

/// Saved states come from strangers too: a memory that is none is refused, or does no worse than make a step fail.
TEST_P(SnapshotOf, AMemoryThatMakesNoSenseDoesNoHarm) {
  Simulation one(parse_scene(swinging_bar(kFeatures[0], GetParam()), "bar.toml"));
  take_steps(one, 2);
  const Snapshot good = one.snapshot();
  std::vector<std::vector<double>> memories = {{}, {1}, std::vector<double>(good.memory.size() + 1, 0.0)};
  for (double value : {-5.0, 0.5, 1e9, 1e300, std::nan("")}) memories.emplace_back(good.memory.size(), value);
  for (const std::vector<double>& memory : memories) {
    Snapshot forged = good;
    forged.memory = memory;
    try {
      one.restore(forged);
    } catch (const InputError&) {
      continue;
    }
    one.step();
  }
  one.restore(good);
  take_steps(one, 2);
}

/// The size of a step is part of the scene's fingerprint, and solvers prepare matrices for it.
TEST_P(SnapshotOf, GoesOnWithTheSameBitsAfterAnotherTimeStep) {
  Simulation one(parse_scene(swinging_bar(kFeatures[0], GetParam()), "bar.toml"));
  take_steps(one, 3);
  one.set_time_step(0.0078125);
  const Snapshot at_once = one.snapshot();
  take_steps(one, 2);
  const Snapshot later = one.snapshot();
  take_steps(one, 3);
  for (const Snapshot& kept : {at_once, later}) {
    Simulation other(parse_scene(swinging_bar(kFeatures[0], GetParam()), "bar.toml"));
    EXPECT_NE(message([&] { other.restore(kept); }).find("time step differ"), std::string::npos);
    other.set_time_step(0.0078125);
    other.restore(kept);
    while (other.state()->step < one.state()->step) take_steps(other, 1);
    expect_same(other, one, GetParam() + ", from step " + std::to_string(kept.state.step));
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const SolverEntry& solver : solver_catalogue()) all.push_back(solver.name);
  return all;
}
std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Catalogue, SnapshotOf, ::testing::ValuesIn(names()), test_name);

constexpr Feature kTwoCuts = {"two cuts", "",
                              "[[cut]]\ntime = 0.046875\nplane = {point = [0.5, 0, 0], normal = [1, 0, 0]}\n"
                              "[[cut]]\ntime = 0.09375\nplane = {point = [0.7, 0, 0], normal = [1, 0, 0]}\n"};

TEST(Snapshot, RestoresBeforeBetweenAndAfterCutsFromAnywhere) {
  const std::string text = swinging_bar(kTwoCuts, "pod-newton");
  Simulation reference(parse_scene(text, "bar.toml"));
  std::vector<Snapshot> kept = {reference.snapshot()};
  for (int k = 0; k < 8; ++k) {
    // Due cuts are made by the next step, or when asked for: both sides of a cut at the same time.
    if (!reference.make_due_cuts().empty()) kept.push_back(reference.snapshot());
    take_steps(reference, 1);
    kept.push_back(reference.snapshot());
  }
  ASSERT_EQ(kept.size(), 11U);
  EXPECT_EQ(kept[3].cuts, 0U);
  EXPECT_EQ(kept[4].cuts, 1U);
  EXPECT_EQ(kept[3].state.time, kept[4].state.time);
  EXPECT_LT(kept[3].state.x.size(), kept[4].state.x.size());
  Simulation other(parse_scene(text, "bar.toml"));
  for (std::size_t from : {10, 0, 4, 3, 8, 7, 2, 9}) {
    other.restore(kept[from]);
    EXPECT_EQ(other.cuts_made(), kept[from].cuts);
    EXPECT_EQ(other.state()->x, kept[from].state.x);
    while (other.state()->step < 8) take_steps(other, 1);
    EXPECT_EQ(to_bytes(other.snapshot()), to_bytes(kept.back())) << "from " << from;
  }
}

TEST(Snapshot, AStateAloneFindsItsCutsByTimeAndNumberOfNodes) {
  const std::string text = swinging_bar(kTwoCuts, "newton");
  Simulation reference(parse_scene(text, "bar.toml"));
  take_steps(reference, 3);
  const State before = *reference.state();
  reference.make_due_cuts();
  const State after = *reference.state();
  take_steps(reference, 5);
  const State end = *reference.state();
  Simulation other(parse_scene(text, "bar.toml"));
  for (const State& state : {after, before, end, after}) {
    other.set_state(state);
    EXPECT_EQ(other.state()->x, state.x);
    EXPECT_EQ(other.model()->rest().size(), state.x.size());
  }
  take_steps(other, 5);
  EXPECT_EQ(other.state()->x, end.x);
  State wrong = before;
  wrong.x.conservativeResize(wrong.x.size() - 3);
  EXPECT_NE(message([&] { other.set_state(wrong); }).find("positions and"), std::string::npos);
  EXPECT_EQ(other.state()->x, end.x);  // as it was
  EXPECT_EQ(other.cuts_made(), 2U);
}

TEST(Snapshot, HasActivationsButNoGrabsAndLeavesDrivenPositionsToWhoeverDrives) {
  SceneObjects objects;
  const auto driven = std::make_shared<DrivenPositions>();
  objects.driven["grip"] = driven;
  const std::string text = R"(
simulation = {dt = 0.01, frames = 9}
[[muscle]]
name = "m"
[[body]]
box = {size = [1, 0.2, 0.2], cells = [4, 1, 1]}
young = 1e5
poisson = 0.3
fibres = [{law = "muscle", stiffness = 1e4, direction = [1, 0, 0], muscle = "m"}]
[[script]]
name = "grip"
where = "x-min"
imposition = "direct"
)";
  Simulation simulation(scene_from_tree(parse_toml(text, "bar.toml"), "bar", ".", {}, objects));
  simulation.state()->activation = {0.5};
  simulation.state()->grabs.push_back({{0, 0, 0}, {1, 0, 0}, Vec3::Zero(), 1});
  const Snapshot snapshot = simulation.snapshot();
  EXPECT_EQ(snapshot.state.activation, std::vector<double>{0.5});
  EXPECT_TRUE(snapshot.state.grabs.empty());
  for (Vec3& p : driven->positions) p.x() += 0.01;
  const std::vector<Vec3> positions = driven->positions;
  simulation.state()->activation = {0.7};
  simulation.restore(snapshot);
  EXPECT_EQ(simulation.state()->activation, std::vector<double>{0.5});
  EXPECT_TRUE(simulation.state()->grabs.empty());
  EXPECT_EQ(driven->positions, positions);
}

TEST(Snapshot, RefusesWhatIsNotItsOwnAndStaysAsItWas) {
  Simulation one(parse_scene(swinging_bar(kFeatures[0], "newton"), "bar.toml"));
  take_steps(one, 2);
  const Snapshot good = one.snapshot();
  const std::string bits = to_bytes(good);
  const auto refusal = [&](const std::function<void(Snapshot&)>& change) {
    Snapshot changed = good;
    change(changed);
    const std::string why = message([&] { one.restore(changed); });
    EXPECT_EQ(to_bytes(one.snapshot()), bits);
    return why;
  };
  EXPECT_EQ(refusal([](Snapshot& s) { s.fingerprint.parts[0] ^= 1; }),
            "the snapshot belongs to another scene: mesh differ; undo the change");
  EXPECT_EQ(refusal([](Snapshot& s) { s.cuts = 3; }), "the snapshot was taken after 3 cuts, but the scene has 0");
  EXPECT_NE(refusal([](Snapshot& s) { s.state.v.conservativeResize(9); }).find("3 velocities"), std::string::npos);
  EXPECT_NE(refusal([](Snapshot& s) { s.state.activation = {1}; }).find("1 activations"), std::string::npos);
  EXPECT_NE(refusal([](Snapshot& s) { s.state.x[4] = std::nan(""); }).find("not finite"), std::string::npos);
  for (std::size_t size = 0; size < bits.size(); size += 7)
    EXPECT_THROW(snapshot_from_bytes(std::string_view(bits).substr(0, size)), InputError) << size;
  for (std::size_t k = 0; k < bits.size(); k += 7) {
    std::string damaged = bits;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x10);
    EXPECT_THROW(snapshot_from_bytes(damaged), InputError) << k;
  }
}

}  // namespace
}  // namespace pliant
