// Figs. 2 and 3, section 4.1 of quasi-newton: the squirrel head of the polynomial law, driven by its foot gently and
// fast. Why the stiffness is fitted, what the line search is for, and what a law without stiffness at rest is good for.

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/quasi_newton/curves.hpp"
#include "experiments/quasi_newton/descent.hpp"
#include "experiments/quasi_newton/quasi_newton.hpp"
#include "experiments/quasi_newton/scenes.hpp"
#include "pliant/materials/secant_stiffness.hpp"
#include "pliant/math/decompositions.hpp"

namespace pliant::experiments {

namespace {

/// Fig. 2: to and fro by a tenth of the size in half a second, or by a third of it in a tenth.
FrameScene driven_head(const MeshData& data, const std::string& law, double mu, bool fast) {
  const auto mesh = std::make_shared<TetMesh>(data);
  const double size = extent_of(mesh->vertices());
  const auto foot = outermost(*mesh, -Vec3::UnitY(), std::min<std::size_t>(137, mesh->vertices().size() / 10));
  FrameScene scene = body_scene(ten_kilograms(mesh, law, {mu, 0}), {},
                                {swing(foot, {(fast ? 0.35 : 0.1) * size, 0, 0}, fast ? 3 : 15, 20)});
  scene.gravity.setZero();
  scene.least_strain = 0.05;
  return scene;
}

double head_mu() { return table1_row("squirrel").mu * table1_row("squirrel").factor; }

/// Median error after ten iterations over the frames of a converged run, with the matrix of another model if given.
double median_error(const FrameScene& scene, const Trajectory& run, const std::vector<std::size_t>& frames,
                    const std::shared_ptr<const Model>& matrix) {
  DescentOptions options;
  options.matrix_model = matrix;
  Descent ours(scene.model, options);
  const auto exact = exact_newton(scene);
  std::vector<double> errors;
  for (std::size_t frame : frames) {
    State end = run.begins[frame];
    const DescentFrame found = ours.solve(run.begins[frame], kFrame);
    const double best = std::min(exact->step(end, kFrame).energy, found.energy);
    if (const double e = relative_error(found.energy, found.first, best); std::isfinite(e)) errors.push_back(e);
  }
  return median(errors);
}

void decide_fit(Context& context) {
  Decision decision("quasi-newton/section-4.1/polynomial-stiffness");
  for (double mu : {1.0, 10.0, 1e5}) {
    const Material polynomial{find_law("polynomial"), {mu, 0}};
    decision
        .at_most(fmt::format("polynomial, mu = {:g}: second derivative at rest over mu", mu),
                 polynomial.hessian(Mat3::Identity()).cwiseAbs().maxCoeff() / mu, 1e-10)
        .at_most(fmt::format("polynomial, mu = {:g}: |k/(0.6 mu) - 1|", mu),
                 std::abs(secant_stiffness(*polynomial.law, polynomial.lame) / (0.6 * mu) - 1), 1e-10);
    const Material corotated{find_law("linear-corotated"), {mu, 3 * mu}};
    decision
        .at_most(fmt::format("corotated, mu = {:g}: |second derivative/(2 mu + lambda) - 1|", mu),
                 std::abs(corotated.hessian(Mat3::Identity())(0, 0) / (5 * mu) - 1), 1e-10)
        .at_most(fmt::format("corotated, mu = {:g}: |k/(2 mu + lambda) - 1|", mu),
                 std::abs(secant_stiffness(*corotated.law, corotated.lame) / (5 * mu) - 1), 1e-10);
  }
  const Table1Row& row = table1_row(context.quick() ? "thin-sheet" : "squirrel");
  const MeshData mesh = *find_mesh(context, row.mesh);
  const FrameScene scene = table1_frame_scene(row, mesh, row.factor);
  const FrameScene blind = table1_frame_scene(row, mesh, 1e-12);
  const Trajectory run = converged_run(scene, 21);
  decision.needs(run.complete, "the converged run reaches its end");
  if (run.complete) {
    const auto frames = spread_over(run.begins.size(), 6);
    const double fitted = median_error(scene, run, frames, nullptr),
                 zero = median_error(scene, run, frames, blind.model);
    decision.at_least("error with k from the second derivative over that with the fitted k", zero / fitted, 10)
        .note("error with the fitted k", fitted)
        .note("mesh", row.mesh);
    if (decision.verdict() == Verdict::fails)
      decision.because(
          fmt::format("errors after ten iterations: {:.1e} fitted, {:.1e} with M/h^2 alone", fitted, zero));
  }
  context.decide(decision);
}

void decide_spatial(Context& context, const MeshData& data) {
  Decision decision("quasi-newton/section-4.1/spatial-stiffness");
  const double mu = context.quick() ? 80 : head_mu();
  const int frames = context.quick() ? 5 : 10;
  const auto mesh = std::make_shared<TetMesh>(data);
  const int axis = longest_axis(*mesh);
  double middle = 0;
  for (const Vec3& p : mesh->vertices()) middle += p[axis] / static_cast<double>(mesh->vertices().size());
  std::vector<Lame> stiff;
  double mean = 0, volume = 0;
  for (const Tet& t : mesh->tets()) {
    Vec3 centre = Vec3::Zero();
    Mat3 E;
    for (std::size_t k = 0; k < 4; ++k) centre += 0.25 * mesh->vertices()[static_cast<std::size_t>(t[k])];
    for (std::size_t k = 0; k < 3; ++k)
      E.col(static_cast<Eigen::Index>(k)) =
          mesh->vertices()[static_cast<std::size_t>(t[k + 1])] - mesh->vertices()[static_cast<std::size_t>(t[0])];
    stiff.push_back({mu * (centre[axis] > middle ? 100 : 1), 0});
    mean += E.determinant() * stiff.back().mu;
    volume += E.determinant();
  }
  mean /= volume;
  const auto make = [&](std::vector<Lame> lame, double uniform) {
    BodyOptions body = ten_kilograms(mesh, "polynomial", {uniform, 0});
    body.lame = std::move(lame);
    const auto foot = outermost(*mesh, -Vec3::UnitY(), mesh->vertices().size() / 10);
    FrameScene scene = body_scene(body, {}, {swing(foot, {0.2 * extent_of(mesh->vertices()), 0, 0}, 5, 5)});
    scene.gravity.setZero();
    return scene;
  };
  const FrameScene both = make(stiff, mu), alike = make({}, mu);
  const Trajectory run = converged_run(both, frames), plain = converged_run(alike, frames);
  decision.needs(run.complete && plain.complete, "both converged runs reach their end");
  if (run.complete && plain.complete) {
    const auto all = spread_over(run.begins.size(), static_cast<std::size_t>(frames));
    const double own = median_error(both, run, all, nullptr), homogeneous = median_error(alike, plain, all, nullptr);
    double best = 1e300;
    for (int k = -4; k <= 4; ++k)
      best = std::min(best, median_error(both, run, all, make({}, std::ldexp(mean, k)).model));
    decision.at_most("error with a k per element over the best uniform k", own / best, 0.1)
        .at_most("error over that of the homogeneous body", own / homogeneous, 10)
        .note("error with a k per element", own)
        .note("error of the best uniform k", best)
        .note("error of the homogeneous body", homogeneous);
    if (decision.verdict() == Verdict::fails)
      decision.because(fmt::format(
          "errors after ten iterations: {:.1e} with a k per element, {:.1e} with the best uniform one, {:.1e} "
          "homogeneous",
          own, best, homogeneous));
  }
  context.decide(decision);
}

struct DrivenRun {
  bool finite = true;
  int frames = 0, deformed = 0, raising = 0, ascending = 0, evaluations = 0, iterations = 0;
  double farthest = 0, smallest_alpha = 1;
};

/// With `look`: whether a whole step would raise g, and whether the direction descends.
DrivenRun drive(Context& context, const FrameScene& scene, int frames, int window, LineSearchKind kind, bool look) {
  DescentOptions options;
  options.window = window;
  options.search.kind = kind;
  Descent ours(scene.model, options);
  State state = scene.start;
  DrivenRun run;
  VecX whole;
  const Motion& motion = scene.model->scripts()[0].motion;
  for (; run.frames < frames && !context.stopped(); ++run.frames) {
    const auto watch = [&](const Iterate& current, const VecX& direction, double slope) {
      run.ascending += !(slope < 0);
      whole = current.x + direction;
      run.raising += !(ours.potential().value(whole) <= current.energy);
    };
    const DescentFrame frame = ours.solve(state, kFrame, look ? Descent::Observer(watch) : Descent::Observer());
    run.finite = frame.x.allFinite() && std::isfinite(frame.energy);
    if (!run.finite) break;
    VecX v;
    ours.potential().velocities(frame.x, v);
    ours.potential().end_step(frame.x, v, state);
    for (const DescentStep& step : frame.steps) {
      run.evaluations += step.evaluations;
      ++run.iterations;
      run.smallest_alpha = std::min(run.smallest_alpha, step.alpha);
    }
    const Vec3 moved = motion.pose(state.time).translation;
    for (Index i = 0; i < scene.model->nodes(); ++i)
      run.farthest =
          std::max(run.farthest, (node(state.x, i) - node(scene.model->rest(), i) - moved).norm() / scene.size);
    run.deformed += largest_strain(*scene.model, state.x) > scene.least_strain;
    if (run.farthest > 10) break;
  }
  return run;
}

void decide_line_search(Context& context, const MeshData& mesh) {
  Decision descent("quasi-newton/section-4.1/step-and-descent"), count("quasi-newton/section-4.1/line-search-count"),
      explodes("quasi-newton/fig-3/explodes-without-line-search");
  const int frames = static_cast<int>(context.number("frames"));
  const FrameScene fast = driven_head(mesh, "polynomial", head_mu(), true),
                   gentle = table1_frame_scene(table1_row("squirrel"), mesh, table1_row("squirrel").factor);
  const DrivenRun five = drive(context, fast, frames, 5, LineSearchKind::armijo, true),
                  zero = drive(context, fast, frames, 0, LineSearchKind::armijo, true),
                  calm = drive(context, gentle, frames, 5, LineSearchKind::armijo, false),
                  none = drive(context, fast, frames, 5, LineSearchKind::none, false),
                  none0 = drive(context, fast, frames, 0, LineSearchKind::none, false);
  for (const auto& [label, run] :
       {std::pair{"fast, m = 5", five}, std::pair{"fast, m = 0", zero}, std::pair{"gentle, m = 5", calm},
        std::pair{"fast, m = 5, no line search", none}, std::pair{"fast, m = 0, no line search", none0}})
    context.row({{"run", label},
                 {"frames", run.frames},
                 {"finite", run.finite},
                 {"farthest", run.farthest},
                 {"trials_per_iteration", double(run.evaluations) / std::max(1, run.iterations)},
                 {"whole_steps_that_raise", run.raising},
                 {"smallest_step", run.smallest_alpha}});
  descent.needs(five.frames == frames && zero.frames == frames, "both runs reach their end")
      .needs(five.raising >= 10, "whole steps would raise g in at least 10 iterations")
      .equal("m = 5: directions that do not descend", five.ascending, 0)
      .equal("m = 0: directions that do not descend", zero.ascending, 0)
      .at_least("smallest step", std::min(five.smallest_alpha, zero.smallest_alpha), std::ldexp(1, -20))
      .note("whole steps that would raise g, m = 5 and m = 0", Json::array({five.raising, zero.raising}));
  if (descent.verdict() == Verdict::fails)
    descent.because(fmt::format("smallest steps {:.1e} (m = 5) and {:.1e} (m = 0; 0: the search found none)",
                                five.smallest_alpha, zero.smallest_alpha));
  const double per = static_cast<double>(calm.evaluations) / std::max(1, calm.iterations);
  count
      .needs(2 * calm.deformed >= calm.frames && calm.frames == frames,
             "the head is deformed in half of the frames, to the end")
      .above("trial points an iteration", per, 1.0)
      .at_most("trial points an iteration, too", per, 1.12)
      .note("fast motion", static_cast<double>(five.evaluations) / std::max(1, five.iterations));
  if (count.verdict() == Verdict::fails)
    count.because(fmt::format("{} trial points in {} iterations", calm.evaluations, calm.iterations));
  const bool stable = five.frames == frames && five.farthest <= 2;
  explodes.needs(stable, "with the line search the fast motion is stable")
      .part("farthest vertex without a line search in sizes", std::min(none.farthest, 1e6), "above 10, or not finite",
            !none.finite || none.farthest > 10)
      .note("frames until then", none.frames)
      .note("farthest with the line search", five.farthest)
      .note("m = 0 without a line search: farthest", none0.farthest);
  if (explodes.verdict() == Verdict::fails)
    explodes.because(fmt::format("without a line search vertices go {:.2f} sizes away in {} frames, with it {:.2f}",
                                 none.farthest, none.frames, five.farthest));
  context.decide(descent);
  context.decide(count);
  context.decide(explodes);
}

/// J: rms displacement of free vertices against the driven motion, gentle; D: 99th percentile of |stretch - 1|, fast.
struct Look {
  double jiggle = 0, distortion = 0;
  bool stable = true;
};

Look look_of(Context& context, const MeshData& mesh, const std::string& law, double mu, int frames) {
  Look look;
  for (bool fast : {false, true}) {
    const FrameScene scene = driven_head(mesh, law, mu, fast);
    Descent ours(scene.model, {});
    State state = scene.start;
    double sum = 0, count = 0;
    std::vector<double> strains;
    std::vector<Mat3> F(scene.model->bodies()[0].mesh->tets().size());
    const Motion& motion = scene.model->scripts()[0].motion;
    std::vector<std::uint8_t> driven(static_cast<std::size_t>(scene.model->nodes()), 0);
    for (Index i : scene.model->scripts()[0].nodes) driven[static_cast<std::size_t>(i)] = 1;
    for (int k = 0; k < frames && look.stable && !context.stopped(); ++k) {
      look.stable = ours.advance(state, kFrame);
      const Vec3 moved = motion.pose(state.time).translation;
      if (!fast) {
        for (Index i = 0; i < scene.model->nodes(); ++i) {
          if (driven[static_cast<std::size_t>(i)]) continue;
          sum += (node(state.x, i) - node(scene.model->rest(), i) - moved).squaredNorm();
          ++count;
        }
        continue;
      }
      scene.model->bodies()[0].elastic->deformation_gradients(state.x, {0, static_cast<Index>(F.size())}, F.data());
      for (const Mat3& each : F) {
        const Vec3 squares = rough_symmetric_eigenvalues(each.transpose() * each);
        for (int c = 0; c < 3; ++c) strains.push_back(std::abs(std::sqrt(std::max(0.0, squares[c])) - 1));
      }
    }
    if (!fast) {
      look.jiggle = std::sqrt(sum / count) / scene.size;
    } else if (!strains.empty()) {
      const auto at = strains.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(strains.size() - 1));
      std::nth_element(strains.begin(), at, strains.end());
      look.distortion = *at;
    }
  }
  return look;
}

void decide_fig2(Context& context, const MeshData& mesh) {
  Decision decision("quasi-newton/fig-2/soft-stiff-polynomial");
  const int frames = static_cast<int>(context.number("look_frames")),
            count = static_cast<int>(context.number("stiffnesses"));
  const double mu = context.number("look_mu");
  const Look own = look_of(context, mesh, "polynomial", mu, frames);
  decision.needs(own.stable && own.jiggle >= 0.01, "with the polynomial law J is at least 1% of the size");
  double soft_ratio = 1e300, stiff_ratio = 1e300;
  int soft = 0, stiff = 0, both = 0;
  for (int k = 0; k < count && !context.stopped(); ++k) {  // four decades about the fitted stiffness
    const double arap = 0.3 * mu * std::pow(10.0, 4.0 * k / (count - 1) - 2);
    const Look rival = look_of(context, mesh, "arap", arap, frames);
    context.row({{"run", "arap"}, {"mu", arap}, {"jiggle", rival.jiggle}, {"distortion", rival.distortion}});
    if (rival.jiggle >= own.jiggle) {
      ++soft;
      soft_ratio = std::min(soft_ratio, rival.distortion / own.distortion);
    }
    if (rival.distortion <= own.distortion) {
      ++stiff;
      stiff_ratio = std::min(stiff_ratio, own.jiggle / rival.jiggle);
    }
    both += rival.jiggle >= 0.9 * own.jiggle && rival.distortion <= 1.1 * own.distortion;
  }
  context.row({{"run", "polynomial"}, {"mu", mu}, {"jiggle", own.jiggle}, {"distortion", own.distortion}});
  decision.needs(soft > 0 && stiff > 0, "some ARAP stiffness jiggles as much, and some distorts as little")
      .at_least("least distortion of those that jiggle as much, over the polynomial law's", soft > 0 ? soft_ratio : 0,
                1.5)
      .at_least("polynomial law's jiggling over the most of those that distort as little", stiff > 0 ? stiff_ratio : 0,
                1.5)
      .equal("ARAP stiffnesses that do both", both, 0)
      .note("J of the polynomial law", own.jiggle)
      .note("D of the polynomial law", own.distortion);
  if (decision.verdict() == Verdict::fails)
    decision.because(fmt::format("J = {:.3f} and D = {:.3f} for the polynomial law; {} ARAP stiffnesses do both",
                                 own.jiggle, own.distortion, both));
  context.decide(decision);
}

void run_squirrel(Context& context) {
  const auto head = find_mesh(context, "squirrel_modified");
  if (!head) return decide_without_meshes(context, "quasi-newton/squirrel");
  context.decide(
      Decision("quasi-newton/fig-11/strain-limiting")
          .leave_undecided("Projective Dynamics with a strain-limiting constraint, which the engine does not have"));
  const MeshData small = context.quick() ? *find_mesh(context, "ditto") : *head;
  decide_fit(context);
  decide_spatial(context, small);
  decide_fig2(context, small);
  decide_line_search(context, *head);
}

}  // namespace

Experiment squirrel() {
  return {
      "quasi-newton/squirrel",
      "The squirrel head driven gently and fast: line search, stiffness fit, soft and stiff (figs. 2, 3, section 4.1)",
      {meshes_option("squirrel_modified.mesh, ditto.mesh and thin_sheet.mesh"),
       {"frames", "400", "60", "of the driven head"},
       {"look_frames", "120", "60", "of each motion of fig. 2"},
       {"look_mu", "8e4", "800", "of the polynomial law of fig. 2"},
       {"stiffnesses", "15", "7", "of ARAP"}},
      run_squirrel};
}

}  // namespace pliant::experiments
