// The trampoline of warp-canceling (fig. 6, bottom): a ball is thrown onto a sheet held along its edges, is thrown
// back, meets a hanging sheet and slides down it. The ball is a light, stiff body among the others; bodies push each
// other apart by forces of the step's start, as in the paper.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/warp_canceling/table_five.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"
#include "pliant/solvers/warp_canceling/body_contact.hpp"

namespace pliant::experiments {

namespace {

constexpr double kTrampolineFrame = 1.0 / 60, kTouch = 0.04, kPush = 1.8e5, kRub = 0.1;  // s, m, 1/s^2, 1
constexpr int kSubsteps = 10;

Method with_contact(Method method) {
  method.parameters["contact"] = std::string("bodies");
  method.parameters["contact_distance"] = kTouch;
  method.parameters["contact_stiffness"] = kPush;
  method.parameters["contact_friction"] = kRub;
  return method;
}

/// What happens to ball and sheets, frame by frame.
class Watch {
 public:
  explicit Watch(const TrampolineScene& scene)
      : scene_(scene), contacts_(scene.model, {BodyContactKind::bodies, kTouch, kPush, kRub}) {}

  void frame(const State& state) {
    const Model& model = *scene_.model;
    const auto body_of = [&](Index node) {
      return node < model.bodies()[1].nodes.begin ? 0 : node < model.bodies()[2].nodes.begin ? 1 : 2;
    };
    bool on_trampoline = false, on_hanging = false;
    for (const BodyContact& contact : contacts_.find(state.x, 0)) {
      const int pair = body_of(contact.point) + body_of(contact.triangle[0]);
      on_trampoline = on_trampoline || pair == 2;
      on_hanging = on_hanging || pair == 3;
    }
    const Range ball = model.bodies()[2].nodes, held = model.bodies()[0].nodes;
    double height = 0, speed = 0;
    for (Index i = ball.begin; i < ball.end; ++i)
      height += node(state.x, i).y() / ball.size(), speed += node(state.v, i).y() / ball.size();
    double lowest = 0;
    for (Index i = held.begin; i < held.end; ++i) lowest = std::min(lowest, node(state.x, i).y());
    if (on_trampoline && !left_) touched_ = true, deepest = std::max(deepest, -lowest);
    if (touched_ && !on_trampoline && !left_) left_ = true, speed_up = speed;
    if (on_hanging && left_) {
      if (second_contact < 0) second_contact = frames_;
      falling_ = height < last_height_ ? falling_ + 1 : 0;
      sliding = std::max(sliding, falling_);
    } else {
      falling_ = 0;
    }
    double edge = 0;
    for (Index i : scene_.lower_edge)
      edge += (node(state.x, i) - node(model.rest(), i)).x() / double(scene_.lower_edge.size());
    if (second_contact >= 0) {
      swing = std::max(swing, std::abs(edge));
      if (swing >= 0.1 * scene_.hanging_height && frames_ > 1 && (edge - edge_) * direction_ < 0) ++turns;
      if (edge != edge_) direction_ = edge - edge_;
    }
    edge_ = edge;
    last_height_ = height;
    heights.push_back(height);
    edges.push_back(edge);
    lows.push_back(lowest);
    ++frames_;
  }

  double deepest = 0, speed_up = 0, swing = 0;
  int second_contact = -1, sliding = 0, turns = 0;
  std::vector<double> heights, edges, lows;  ///< of the ball, the hanging sheet's lower edge, the trampoline, m

 private:
  const TrampolineScene& scene_;
  BodyContacts contacts_;
  bool touched_ = false, left_ = false;
  int frames_ = 0, falling_ = 0;
  double last_height_ = 1e300, edge_ = 0, direction_ = 0;
};

void run_trampoline(Context& context) {
  const TrampolineScene scene = trampoline(static_cast<Index>(context.number("cells")));
  const int frames = static_cast<int>(context.number("frames"));
  const Frames full = record(
      context, scene.model, with_contact({"full", "corotational"}), kTrampolineFrame / kSubsteps, frames, nullptr,
      1e300, [](const MethodRun&) {}, kSubsteps);
  Watch watch(scene);
  const Frames wc = record(
      context, scene.model, with_contact(paper_wc(1e-5)), kTrampolineFrame / kSubsteps, frames, nullptr, 1e300,
      [&](const MethodRun& run) { watch.frame(run.state()); }, kSubsteps);
  const std::size_t until = watch.second_contact < 0 ? wc.x.size() : static_cast<std::size_t>(watch.second_contact);
  double deviation = 0;
  for (std::size_t f = 0; f < std::min({until, wc.x.size(), full.x.size()}); ++f)
    for (Index i = 0; i < scene.model->bodies()[2].nodes.begin; ++i)
      deviation = std::max(deviation, (node(wc.x[f], i) - node(full.x[f], i)).norm());
  for (const auto& [name, run] : {std::pair<const char*, const Frames&>{"full", full}, {"WC", wc}}) {
    Json row = {{"method", name}, {"frames", run.x.size()}, {"completed", run.completed}};
    row.update(measured_row(run.measured));
    if (&run == &wc) {
      row["height_of_the_ball"] = watch.heights;
      row["lower_edge_of_the_sheet"] = watch.edges;
      row["lowest_of_the_trampoline"] = watch.lows;
    }
    context.row(row);
  }
  context.decide(Decision("warp-canceling/fig-6/trampoline")
                     .needs(full.completed, "full Cholesky completes")
                     .part("frames of WC", double(wc.x.size()), "all of them, finite", wc.completed)
                     .at_least("the trampoline pressed down, of its side", watch.deepest / scene.side, 0.05)
                     .above("upward speed at which the ball leaves, m/s", watch.speed_up, 0)
                     .at_least("frames in a row on the hanging sheet while the ball falls", watch.sliding, 5)
                     .at_least("largest way of the hanging sheet's lower edge, of its height",
                               watch.swing / scene.hanging_height, 0.1)
                     .at_least("reversals of that edge afterwards", watch.turns, 1)
                     .at_most("deviation of both sheets up to the second contact, of 1 m", deviation, 0.01)
                     .because(fmt::format(
                         "pressed down by {:.2g} m, up at {:.2g} m/s, on the sheet from frame {}, {} frames "
                         "sliding, the edge swings by {:.2g} m; deviation {:.2g} m",
                         watch.deepest, watch.speed_up, watch.second_contact, watch.sliding, watch.swing, deviation)));
}

}  // namespace

RowOfTableFive trampoline_row(Context& context, Index cells, int frames) {
  const TrampolineScene scene = trampoline(cells);
  RowOfTableFive row{"trampoline", {}, {}};
  row.full = record(
      context, scene.model, with_contact({"full", "corotational"}), kTrampolineFrame / kSubsteps, frames, nullptr,
      1e300, [](const MethodRun&) {}, kSubsteps);
  row.wc = record(
      context, scene.model, with_contact(paper_wc(1e-5)), kTrampolineFrame / kSubsteps, frames, nullptr, 1e300,
      [](const MethodRun&) {}, kSubsteps);
  return row;
}

Experiment trampoline_experiment() {
  return {"warp-canceling/trampoline",
          "A ball is thrown onto a trampoline and back into a hanging sheet, along which it slides (fig. 6)",
          {{"cells", "50", "20", "along each side of the trampoline"}, {"frames", "300", "150", "of 1/60 s"}},
          run_trampoline};
}

}  // namespace pliant::experiments
