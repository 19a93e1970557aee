#include "pliant/view/live_scene.hpp"

#include <gtest/gtest.h>

#include "pliant/base/bytes.hpp"
#include "scenes.hpp"
#include "support/catalogue_scenes.hpp"

namespace pliant::view {
namespace {

using testing::kBeam;

LiveScene beam(const std::string& more = "") { return {parse_scene(kBeam + more, "beam"), "beam.toml"}; }

void advance(LiveScene& live, int steps) {
  for (int s = 0; s < steps; ++s) ASSERT_TRUE(live.advance()) << live.trouble(0);
}

/// From above, near the free end.
const Ray kAtTheEnd{{1.8, 5, 0.5}, {0, -1, 0}};
const LiveScene::Hand kHand{1, 0};

const LiveScene::Holding* grab(LiveScene& live, std::optional<Vec3> target = std::nullopt) {
  return live.grab(kHand, {0, 0, kAtTheEnd, target});
}

std::string message_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LiveScene, ResetRestoresEveryBitAndTheSameHandDoesTheSameAgain) {
  LiveScene live = beam();
  const auto play = [&] {
    grab(live, Vec3(2, 1.5, 0.5));
    advance(live, 10);
    live.release(kHand);
    advance(live, 10);
    return live.state(0);
  };
  const State start = live.state(0), first = play();
  EXPECT_GT((first.x - start.x).norm(), 0.1);
  live.reset();
  EXPECT_EQ(live.state(0).x, start.x);
  EXPECT_EQ(live.state(0).v, start.v);
  EXPECT_EQ(live.state(0).time, 0);
  EXPECT_EQ(play().x, first.x);
}

TEST(LiveScene, ShowsVisualMeshesInPlaceOfBodiesAndHandsReachTheElements) {
  const std::filesystem::path folder = testing::folder_with("live_visual", "roof.obj", testing::kRoof);
  LiveScene live(parse_scene(testing::dressed_beam(folder), "beam", "."), "");
  const std::size_t surface = live.surface().nodes.size();
  ASSERT_EQ(live.skin().rest.size(), 5u);
  EXPECT_EQ(live.skin().bodies, std::vector<Index>{0});
  EXPECT_LT((live.skin().rest[4] - Vec3(1, 1.3, 0.5)).norm(), 1e-12);
  for (const Colour colour : {Colour::none, Colour::stress, Colour::stretch, Colour::speed, Colour::error}) {
    advance(live, 1);
    const Drawing drawing = live.draw(0, colour);
    ASSERT_EQ(drawing.positions.size(), surface + 5);
    if (colour == Colour::none) continue;
    ASSERT_EQ(drawing.values.size(), surface + 5);
    // A vertex of the skin at a vertex of the mesh has its value.
    for (std::size_t v = 0; v < surface; ++v)
      if ((live.surface().rest[v] - live.skin().rest[1]).norm() < 1e-12) {
        EXPECT_LT((drawing.positions[v] - drawing.positions[surface + 1]).norm(), 1e-12);
        EXPECT_NEAR(drawing.values[v], drawing.values[surface + 1], 1e-9 * (1 + drawing.values[v]));
      }
  }
  EXPECT_TRUE(grab(live));
  live.cut({.point = {1, 0.5, 0.5}, .normal = {1, 0, 0}, .is_now = false, .view = 0, .body = {}, .radius = {}});
  EXPECT_EQ(live.draw(0, Colour::stress).positions.size(), live.surface().nodes.size() + 5);
  advance(live, 1);
}

TEST(LiveScene, EverySolverTakesOverTheStateAndGoesOn) {
  LiveScene live = beam();
  grab(live, Vec3(1.9, 1.2, 0.5));
  advance(live, 5);
  for (const SolverEntry& solver : solver_catalogue()) {
    const State before = live.state(0);
    live.set_solver(0, solver.name, std::nullopt);
    EXPECT_EQ(live.state(0).x, before.x);
    EXPECT_EQ(live.state(0).v, before.v);
    advance(live, 3);
    EXPECT_EQ(live.state(0).step, before.step + 3) << solver.name;
    EXPECT_NEAR(live.state(0).time, before.time + 3 * 0.015625, 1e-12) << solver.name;
    EXPECT_TRUE(live.trouble(0).empty()) << live.trouble(0);
  }
}

TEST(LiveScene, DragMovesThePointByTheDistanceExpected) {
  LiveScene live = beam();
  live.set_strength(1e4);  // much stiffer than the beam: the point goes where the hand is
  const LiveScene::Holding* held = grab(live);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->body, "beam");
  const Vec3 start = held->grab.target, drag(0.05, 0.2, -0.1);
  EXPECT_LT((start - Vec3(1.8, 1, 0.5)).norm(), 1e-12);
  for (int k = 1; k <= 20; ++k) {
    live.move(kHand, start + k / 20.0 * drag);
    advance(live, 3);
  }
  advance(live, 100);
  const Vec3 moved = live.hands().at(kHand).grab.point(live.state(0).x) - start;
  EXPECT_LT((moved - drag).norm(), 0.02 * drag.norm()) << moved.transpose();
}

TEST(LiveScene, ComparesTwoSolversUnderTheSameHand) {
  LiveScene live = beam();
  advance(live, 3);
  live.set_compare(true, "newton", std::nullopt);
  ASSERT_EQ(live.views(), 2);
  EXPECT_EQ(live.state(1).x, live.state(0).x);
  grab(live, Vec3(1.9, 1.3, 0.5));
  advance(live, 40);
  EXPECT_EQ(live.state(1).time, live.state(0).time);
  const double moved = (live.state(0).x - live.model().rest()).norm();
  const double apart = (live.state(0).x - live.state(1).x).norm();
  EXPECT_GT(moved, 0.1);
  EXPECT_GT(apart, 0);
  EXPECT_LT(apart, 0.1 * moved);
  EXPECT_GT(live.telemetry()["views"][1]["error"].get<double>(), 0);
  EXPECT_EQ(live.draw(1, Colour::error).values.size(), live.surface().nodes.size());
  live.set_compare(false, "", std::nullopt);
  EXPECT_EQ(live.views(), 1);
  live.set_compare(true, "", std::nullopt);
  EXPECT_EQ(live.settings()["views"][1]["solver"], "newton");  // as it was
  LiveScene other = beam();
  other.set_compare(true, "", std::nullopt);
  EXPECT_EQ(other.settings()["views"][1]["solver"], "pod-newton");  // beside quasi-newton
}

TEST(LiveScene, ChangesOfPropertiesKeepPositionsAndVelocities) {
  LiveScene live = beam();
  grab(live, Vec3(1.9, 1.3, 0.5));
  advance(live, 10);
  const State before = live.state(0);
  live.set_gravity({0, -9.81, 0});
  live.set_stiffness(0, 4);
  live.set_time_step(0.01);
  EXPECT_EQ(live.state(0).x, before.x);
  EXPECT_EQ(live.state(0).v, before.v);
  EXPECT_EQ(live.state(0).grabs.size(), 1U);
  EXPECT_EQ(live.model().gravity(), Vec3(0, -9.81, 0));
  EXPECT_NEAR(live.describe()["bodies"][0]["young"].get<double>(), 4e5, 1);
  live.set_stiffness(0, 1);
  EXPECT_NEAR(live.describe()["bodies"][0]["young"].get<double>(), 1e5, 1);
  advance(live, 1);
  EXPECT_NEAR(live.state(0).time, before.time + 0.01, 1e-12);
  EXPECT_EQ(message_of([&] { live.set_stiffness(3, 2); }), "there is no body 3; they are numbered 0 to 0");
}

TEST(LiveScene, ARigidBodyHasNeitherStiffnessNorStressNorStretch) {
  LiveScene alone = beam(), live = beam(testing::kSpinningBlock);
  for (LiveScene* each : {&alone, &live}) {
    grab(*each, Vec3(1.9, 1.3, 0.5));
    advance(*each, 5);
  }
  const auto bodies = live.describe()["bodies"];
  EXPECT_TRUE(bodies[0]["uncoloured"].empty());
  EXPECT_TRUE(bodies[1]["young"].is_null());
  EXPECT_NEAR(bodies[1]["density"].get<double>(), 1000, 1e-9) << "of what it is filled with, not of its frame";
  EXPECT_EQ(bodies[1]["uncoloured"], Json::parse(R"(["stress", "stretch"])"));
  // The block adds nothing to the range of the beam's colours.
  for (const Colour colour : {Colour::stress, Colour::stretch}) {
    EXPECT_NEAR(live.draw(0, colour).high, alone.draw(0, colour).high, 1e-3 * alone.draw(0, colour).high);
  }
  EXPECT_EQ(message_of([&] { live.set_stiffness(1, 2); }), "body 'block' is rigid: it has no stiffness to scale");
}

TEST(LiveScene, ShellsAndRodsHaveAStiffnessThatIsChanged) {
  LiveScene live = beam(
      "[[rod]]\npoints = [[5, 0, 0], [6, 0, 0]]\nradius = 0.01\nyoung = 1e7\n[[body]]\nname = \"sheet\"\ncloth = {size "
      "= [1, 1], cells = [2, 2], origin = [8, 0, 0]}\nshell = {thickness = 0.01}\nyoung = 2e6\npoisson = 0.3\n");
  const auto bodies = live.describe()["bodies"];
  ASSERT_EQ(bodies[1]["name"], "sheet");
  EXPECT_DOUBLE_EQ(bodies[1]["young"].get<double>(), 2e6);
  EXPECT_DOUBLE_EQ(bodies[1]["poisson"].get<double>(), 0.3);
  EXPECT_DOUBLE_EQ(bodies[2]["young"].get<double>(), 1e7);
  EXPECT_TRUE(bodies[2]["poisson"].is_null());
  for (int b = 1; b < 3; ++b) {
    const double young = live.describe()["bodies"][at(b)]["young"].get<double>();
    live.set_stiffness(b, 4);
    EXPECT_NEAR(live.describe()["bodies"][at(b)]["young"].get<double>(), 4 * young, 1e-9 * young);
  }
  advance(live, 1);
}

TEST(LiveScene, PinsHoldWhereThingsAreUntilTheyAreTakenOut) {
  LiveScene live = beam();
  grab(live, Vec3(1.9, 1.4, 0.5));
  advance(live, 20);
  const VecX x = live.state(0).x;
  const Index corner = live.hands().at(kHand).grab.nodes[0];
  live.pin({0, SurfacePoint{live.hands().at(kHand).at.triangle, {1, 0, 0}}, 0.05});
  live.release(kHand);
  EXPECT_EQ(live.state(0).x, x);
  advance(live, 30);
  EXPECT_LT((node(live.state(0).x, corner) - node(x, corner)).norm(), 1e-12);
  EXPECT_EQ(message_of([&] {
              live.unpin({0, Ray{{0.6, 5, 0.5}, {0, -1, 0}}, 0.05});
            }),
            "nothing was pinned by hand there; what the scene itself holds stays held");
  live.unpin_all();
  advance(live, 100);
  EXPECT_GT((node(live.state(0).x, corner) - node(x, corner)).norm(), 0.1);
  EXPECT_LT((node(live.state(0).x, corner) - node(live.model().rest(), corner)).norm(), 0.05);
}

TEST(LiveScene, CutsOpenTheMeshAndLeaveEverythingWhereItIs) {
  LiveScene live = beam();
  live.set_compare(true, "fp-pxpbd", std::nullopt);
  grab(live, Vec3(1.9, 1.3, 0.5));
  advance(live, 10);
  const Index nodes = live.model().nodes();
  const std::uint32_t revision = live.revision();
  EXPECT_NE(message_of([&] { live.cut({{9, 0, 0}, {1, 0, 0}, false, 0, {}, {}}); }), "");
  EXPECT_NE(message_of([&] { live.cut({{9, 0, 0}, {1, 0, 0}, false, 0, 0, {}}); }), "");
  EXPECT_EQ(live.model().nodes(), nodes);
  live.cut({{1, 0.5, 0.5}, {1, 0, 0}, true, 0, {}, {}});
  EXPECT_EQ(live.model().nodes(), nodes + 9);  // a cross-section has 3 x 3 vertices
  EXPECT_GT(live.revision(), revision);
  EXPECT_EQ(live.state(1).x.size(), live.model().rest().size());
  advance(live, 100);
  // Nothing but the hand holds the piece now: it hangs there.
  const auto& grab_now = live.hands().at(kHand).grab;
  EXPECT_LT((grab_now.point(live.state(0).x) - grab_now.target).norm(), 0.05);
  live.reset();
  EXPECT_EQ(live.model().nodes(), nodes);
}

TEST(LiveScene, MakesTheCutsOfItsSceneWhenTheyAreDue) {
  LiveScene live = beam("[[cut]]\ntime = 0.1\nplane = {point = [1, 0, 0], normal = [1, 0, 0]}\n");
  const Index nodes = live.model().nodes();
  advance(live, 6);
  EXPECT_EQ(live.model().nodes(), nodes);
  advance(live, 3);
  EXPECT_EQ(live.model().nodes(), nodes + 9);
}

TEST(LiveScene, SavedStatesGoOnWithTheSameBits) {
  LiveScene live = beam();
  live.set_gravity({0, -5, 0});
  live.set_stiffness(0, 2);
  live.set_solver(0, "newton", ParameterMap{{"tolerance", 1e-4}});
  live.set_compare(true, "fp-pxpbd", std::nullopt);
  live.pin({0, kAtTheEnd, 0.3});
  advance(live, 5);
  live.cut({{0.5, 0, 0}, {1, 0, 0}, false, 0, {}, {}});
  advance(live, 5);
  const std::string saved = live.save();
  EXPECT_EQ(LiveScene::path_of_saved(saved), "beam.toml");
  LiveScene other = beam();
  other.restore(saved);
  ASSERT_EQ(other.views(), 2);
  EXPECT_EQ(other.settings().dump(), live.settings().dump());
  for (int v = 0; v < 2; ++v) EXPECT_EQ(other.state(v).x, live.state(v).x);
  advance(live, 5);
  advance(other, 5);
  for (int v = 0; v < 2; ++v) EXPECT_EQ(other.state(v).x, live.state(v).x);
  for (std::size_t length = 0; length < saved.size(); length += 1 + saved.size() / 200)
    EXPECT_THROW(LiveScene::path_of_saved(saved.substr(0, length)), InputError);
  for (std::size_t k = 0; k < saved.size(); k += 1 + saved.size() / 200) {
    std::string damaged = saved;
    damaged[k] = static_cast<char>(damaged[k] ^ 0x10);
    EXPECT_THROW(LiveScene::path_of_saved(damaged), InputError);
  }
}

TEST(LiveScene, SavedStatesOfEverySolverGoOnWithTheSameBits) {
  for (const test::Feature& feature : test::kFeatures)
    for (const SolverEntry& solver : solver_catalogue()) {
      const std::string text = test::swinging_bar(feature, solver.name);
      const std::string what = std::string(feature.name) + ", " + solver.name;
      std::optional<LiveScene> live;
      try {
        live.emplace(parse_scene(text, "bar"), "bar.toml");
      } catch (const InputError&) {
        continue;  // the solver has not this feature
      }
      live->set_compare(true, solver.name, std::nullopt);
      advance(*live, 4);
      const std::string saved = live->save();
      LiveScene other(parse_scene(text, "bar"), "bar.toml");
      other.restore(saved);
      advance(*live, 5);
      advance(other, 5);
      ASSERT_EQ(other.state(0).x.size(), live->state(0).x.size()) << what;
      for (int v = 0; v < 2; ++v) {
        EXPECT_EQ(other.state(v).x, live->state(v).x) << what;
        EXPECT_EQ(other.state(v).v, live->state(v).v) << what;
      }
    }
}

/// With another header, or other snapshots, and a checksum that fits.
std::string forged(const std::string& saved, const std::function<void(Json&, std::vector<Snapshot>&)>& change) {
  const std::string magic = saved.substr(0, saved.find('\n') + 1);
  ByteReader in(unseal(magic, saved, "saved state"));
  Json header = Json::parse(in.get_text());
  std::vector<Snapshot> views;
  while (!in.empty()) views.push_back(snapshot_from_bytes(in.get_text()));
  change(header, views);
  ByteWriter out;
  out.put_text(header.dump());
  for (const Snapshot& view : views) out.put_text(to_bytes(view));
  return seal(magic, out.bytes());
}

TEST(LiveScene, ForgedSavedStatesAreRefusedInWords) {
  LiveScene live = beam();
  live.pin({0, kAtTheEnd, 0.3});
  advance(live, 2);
  const std::string saved = live.save();
  const auto refusal = [&](const std::function<void(Json&, std::vector<Snapshot>&)>& change) {
    LiveScene other = beam();
    return message_of([&] { other.restore(forged(saved, change)); });
  };
  EXPECT_EQ(refusal([](Json&, auto&) {}), "");
  EXPECT_EQ(refusal([](Json& h, auto&) { h["name"] = "other"; }),
            "the saved state belongs to the scene 'other', not to 'beam'");
  EXPECT_EQ(refusal([](Json& h, auto&) { h.erase("pins"); }), "the saved state is incomplete");
  EXPECT_EQ(refusal([](Json&, auto& views) { views.clear(); }), "the saved state has no views");
  EXPECT_EQ(refusal([](Json& h, auto&) { h["pins"][0]["positions"].erase(0); }).find("hold 1 has"), 0U);
  EXPECT_NE(refusal([](Json& h, auto&) { h["pins"][0]["vertices"][0] = 100000; }), "");
  EXPECT_NE(refusal([](Json& h, auto&) { h["pins"][0]["body"] = 7; }), "");
  EXPECT_NE(refusal([](Json& h, auto&) { h["stiffness"][0] = -1; }).find("out of range"), std::string::npos);
  EXPECT_NE(refusal([](Json& h, auto&) { h["time_step"] = 0; }).find("out of range"), std::string::npos);
  EXPECT_NE(refusal([](Json& h, auto&) { h["time_step"] = 0.01; }).find("another scene: time step differ"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& h, auto&) {
              h["cuts"].push_back({{"of_scene", 3}});
            }).find("fewer cuts"),
            std::string::npos);
  EXPECT_NE(refusal([](Json& h, auto&) { h["views"][0]["solver"] = "nwton"; }), "");
  EXPECT_NE(refusal([](Json&, auto& views) { views[0].state.x.conservativeResize(9); }).find("3 positions"),
            std::string::npos);
  EXPECT_NE(refusal([](Json&, auto& views) { views[0].state.x[0] = std::nan(""); }).find("not finite"),
            std::string::npos);
  EXPECT_EQ(message_of([] { LiveScene::path_of_saved("PLIANT-VIEW-1\nold"); }),
            "the saved state is not a saved state of this version of pliant");
}

TEST(LiveScene, ASolverThatRefusesTheSceneIsToldInWordsAndTheOneAtWorkGoesOn) {
  LiveScene live(parse_scene(kBeam + "", "beam", ".", {{"solver.name=newton"}, ""}), "");
  Scene scene =
      parse_scene(kBeam + "[contact]\ndhat = 0.01\n", "beam", ".", {{"simulation.mass=consistent"}, "pod-newton"});
  LiveScene touching(scene, "");
  const std::string why = message_of([&] { touching.set_solver(0, "fp-pxpbd", std::nullopt); });
  EXPECT_NE(why.find("mass = \"lumped\""), std::string::npos) << why;
  EXPECT_EQ(touching.settings()["views"][0]["solver"], "pod-newton");
  advance(touching, 2);
  EXPECT_NE(message_of([&] { touching.set_solver(0, "nwton", std::nullopt); }).find("did you mean 'newton'?"),
            std::string::npos);
  EXPECT_NE(message_of([&] { touching.set_solver(0, "newton", ParameterMap{{"tolerance", -1.0}}); }), "");
  EXPECT_NE(message_of([&] { touching.set_solver(1, "newton", std::nullopt); }), "");
}

TEST(LiveScene, ShowsEveryColour) {
  LiveScene live = beam();
  live.set_solver(0, "warp-canceling", std::nullopt);
  grab(live, Vec3(2.2, 1.8, 0.5));
  advance(live, 10);
  for (int c = 1; c < kColours; ++c) {
    const Drawing drawing = live.draw(0, static_cast<Colour>(c));
    ASSERT_EQ(drawing.values.size(), live.surface().nodes.size()) << info(static_cast<Colour>(c)).name;
    if (static_cast<Colour>(c) != Colour::error) {
      EXPECT_GT(drawing.high, drawing.low) << info(static_cast<Colour>(c)).name;
    }
  }
  EXPECT_EQ(live.draw(0, Colour::refreshed).high, 1);
}

TEST(LiveScene, RigidLinksCanBeHeldToo) {
  LiveScene live(parse_scene(R"(
version = 1
[simulation]
dt = 0.01
frames = 10
[[link]]
name = "rod"
joint = "ball"
pivot = [0, 0, 0]
capsule = {begin = [0, 0, 0], end = [1, 0, 0], radius = 0.1}
[[body]]
name = "muscle"
box = {size = [0.2, 0.2, 0.2], cells = [1, 1, 1]}
translate = [1, 0, 0]
material = "fixed-corotated"
young = 1e4
poisson = 0.3
[[attachment]]
body = "muscle"
where = "x-min"
link = "rod"
[solver]
name = "conjac"
)",
                             "rod"),
                 "");
  const LiveScene::Holding* held = live.grab(kHand, {0, 0, Ray{{0.5, 5, 0.01}, {0, -1, 0}}, {}});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->body, "rod");
  advance(live, 5);
}

}  // namespace
}  // namespace pliant::view
