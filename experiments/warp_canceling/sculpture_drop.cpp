// Tables I and II of warp-canceling: a sculpture-like lattice drops onto the floor and bounces, at three resolutions
// and three stiffnesses. Full factorisation each step is the reference; conjugate gradients and warp-canceling run with
// the loosest tolerance of their ladders that looks the same, and with the printed ones beside it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/warp_canceling/runs.hpp"
#include "experiments/warp_canceling/scenes.hpp"
#include "experiments/warp_canceling/warp_canceling.hpp"

namespace pliant::experiments {

namespace {

constexpr double kFrame = 0.01;

/// One cell of Table I.
struct SculptureCell {
  double tets = 0, young = 0;
  Frames full;
  SameLook cg, wc;
  Frames printed_cg, printed_wc;
  int bounced = 0;

  bool found() const { return full.completed && cg.frames.completed && wc.frames.completed && bounced >= 2; }
  double cg_ms() const { return cg.frames.measured.cpu_ms(); }
  double wc_ms() const { return wc.frames.measured.cpu_ms(); }
  double ratio() const { return found() ? cg_ms() / wc_ms() : std::numeric_limits<double>::quiet_NaN(); }
  double printed_ratio() const { return printed_cg.measured.cpu_ms() / printed_wc.measured.cpu_ms(); }
  double share() const { return wc.frames.measured.mean("refreshed_elements"); }
  /// What a comparison at equal look presupposes.
  void presuppose(Decision& d) const {
    const std::string which = fmt::format("{:.0f} tets, E = {:g}: ", tets, young);
    d.needs(full.completed && bounced >= 2, which + fmt::format("it bounces twice ({} times)", bounced))
        .needs(cg.frames.completed, which + "some tolerance of CG has the same look")
        .needs(wc.frames.completed, which + "some tau of WC has the same look");
  }
  std::string times() const {
    return fmt::format(
        "E = {:g}: CG {:.2f} (to {:g}), WC {:.2f} (tau {:g} N s), full {:.2f} ms of processor time; {:.2f} at "
        "the printed tolerances",
        young, cg_ms(), cg.tolerance, wc_ms(), wc.tolerance, full.measured.cpu_ms(), printed_ratio());
  }
};

SculptureCell measure_cell(Context& context, Index across, double young, int steps) {
  SculptureCell cell;
  const auto model = sculpture(across, young);
  cell.tets = double(model->bodies()[0].mesh->tets().size());
  cell.young = young;
  context.progress(0.1, fmt::format("{:.0f} tets, E = {:g}", cell.tets, young));
  cell.full = record(context, model, {"full", "corotational"}, kFrame, steps);
  cell.bounced = bounces(cell.full);
  cell.cg = loosest_of_same_look(
      context, model, [](double t) { return paper_cg(t); }, 0.1, 1e-9, kFrame, cell.full);
  cell.wc = loosest_of_same_look(context, model, paper_wc, 0.5, 1e-6, kFrame, cell.full);
  cell.printed_cg = record(context, model, paper_cg(1e-4, true), kFrame, steps, &cell.full);
  cell.printed_wc = record(context, model, paper_wc(5e-3), kFrame, steps, &cell.full);
  for (const auto& [name, frames, tolerance] : {std::tuple{"full", &cell.full, 0.0},
                                                {"CG", &cell.cg.frames, cell.cg.tolerance},
                                                {"WC", &cell.wc.frames, cell.wc.tolerance},
                                                {"CG, 1e-4 N s", &cell.printed_cg, 1e-4},
                                                {"WC, 5e-3 N s", &cell.printed_wc, 5e-3}}) {
    Json row = {{"tets", cell.tets},
                {"young", young},
                {"method", name},
                {"tolerance", tolerance},
                {"completed", frames->completed},
                {"deviation", frames->deviation},
                {"bounces", cell.bounced}};
    row.update(measured_row(frames->measured));
    row.update(stage_columns(frames->measured));
    context.row(row);
  }
  return cell;
}

/// The cells of Table I that have been measured, of those that are asked for. Claims are looked at again after every
/// one: a cell in which a part fails decides it, to hold takes all that the claim compares.
class SculptureTable {
 public:
  SculptureTable(Context& context)
      : context_(context), sizes_(context.integers("across").size()), young_(context.numbers("young")) {}

  void add(std::size_t size, double young) {
    const auto across = static_cast<Index>(context_.integers("across")[size]);
    const double steps = context_.number(size == 0 ? "steps" : "medium_steps");
    cells_.emplace(std::pair{size, young}, measure_cell(context_, across, young, static_cast<int>(steps)));
    if (!context_.stopped()) settle();
  }

 private:
  static constexpr double kSoft = 5e6, kMiddle = 5e7, kStiff = 5e8;

  const SculptureCell* find(std::size_t size, double young) const {
    const auto found = cells_.find({size, young});
    return found == cells_.end() ? nullptr : &found->second;
  }
  /// The cell if it is there, with what a comparison presupposes of it.
  const SculptureCell* compared(Decision& d, std::size_t size, double young) const {
    const SculptureCell* cell = find(size, young);
    d.awaits(cell != nullptr, fmt::format("size {} at E = {:g}", size + 1, young));
    if (cell != nullptr) cell->presuppose(d);
    return cell;
  }

  void settle() {
    settle_small();
    settle_look();
    for (const bool of_wc : {true, false}) settle_times(of_wc);
    settle_advantage();
    settle_updates();
    settle_sizes();
    settle_large();
  }

  void settle_small() {
    Decision weak("warp-canceling/table-1/small-soft-cg-faster"), small("warp-canceling/table-1/small-row");
    if (const SculptureCell* soft = compared(weak, 0, kSoft))
      weak.part("WC over CG at E 5e6", 1 / soft->ratio(), "above 1, at most 1.3",
                1 / soft->ratio() > 1 && 1 / soft->ratio() <= 1.3)
          .note("at the printed tolerances", 1 / soft->printed_ratio())
          .because(soft->times());
    for (const double young : {kMiddle, kStiff})
      if (const SculptureCell* cell = compared(small, 0, young))
        small.at_least(fmt::format("CG over WC at E = {:g}", young), cell->ratio(), young == kMiddle ? 2 : 3.3)
            .note(fmt::format("at the printed tolerances, E = {:g}", young), cell->printed_ratio())
            .because(cell->times());
    context_.settle(weak);
    context_.settle(small);
  }

  void settle_look() {
    Decision look("warp-canceling/section-5.2/tolerances-look-the-same");
    for (std::size_t size = 0; size < (context_.quick() ? 1 : 3); ++size)
      for (const double young : young_) {
        const SculptureCell* cell = find(size, young);
        look.awaits(cell != nullptr, fmt::format("size {} at E = {:g}", size + 1, young));
        if (cell == nullptr) continue;
        const std::string which = fmt::format("{:.0f} tets, E = {:g}: ", cell->tets, young);
        look.needs(cell->full.completed, which + "full Cholesky completes")
            .at_most(which + "deviation of CG at 1e-4 N s", cell->printed_cg.deviation, 0.01)
            .at_most(which + "deviation of WC at 5e-3 N s", cell->printed_wc.deviation, 0.01)
            .below(which + "share refreshed", cell->printed_wc.measured.mean("refreshed_elements"), 0.9)
            .note(which + "bounces", cell->bounced);
      }
    context_.settle(
        look.because("deviations are of the diameter, at the worst frame; the bounces amplify small differences"));
  }

  /// How the times of warp-canceling fall, those of conjugate gradients rise with stiffness.
  void settle_times(bool of_wc) {
    Decision d(of_wc ? "warp-canceling/table-1/wc-faster-when-stiffer"
                     : "warp-canceling/table-1/cg-slower-when-stiffer");
    const auto ms = [&](const SculptureCell& cell) { return of_wc ? cell.wc_ms() : cell.cg_ms(); };
    const auto figure = [&](const SculptureCell& cell) {
      const Measured& cg = cell.cg.frames.measured;
      return of_wc ? 100 * cell.share() : cg.linear_iterations / std::max(1, cg.steps);
    };
    for (std::size_t size = 0; size < (context_.quick() ? 1 : 3); ++size) {
      std::map<double, const SculptureCell*> of;
      for (const double young : young_)
        if (const SculptureCell* cell = compared(d, size, young)) of[young] = cell;
      const auto part = [&](double more, double less, double factor, bool strictly) {
        if (!of.contains(more) || !of.contains(less)) return;
        const std::string what =
            fmt::format("{:.0f} tets: {}'s time, E {:g} over {:g}", of[more]->tets, of_wc ? "WC" : "CG", more, less);
        const double ratio = ms(*of[more]) / ms(*of[less]);
        strictly ? d.above(what, ratio, factor) : d.at_least(what, ratio, factor);
        if (of_wc)
          d.above(fmt::format("{:.0f} tets: share refreshed, E {:g} over {:g}", of[more]->tets, more, less),
                  of[more]->share() / of[less]->share(), 1);
      };
      if (of_wc) {
        part(kSoft, kMiddle, 1, true);
        part(kMiddle, kStiff, size == 0 ? 1 / 1.05 : 1, size > 0);
        if (size > 0) part(kSoft, kStiff, 1.4, false);
      } else {
        part(kMiddle, kSoft, 1, true);
        part(kStiff, kMiddle, 1, true);
        part(kStiff, kSoft, size == 0 ? 2 : 4, false);
      }
      for (const auto& [young, cell] : of)
        d.because(fmt::format("{:.0f} tets, E = {:g}: {:.1f}{} a frame, {:.2f} ms", cell->tets, young, figure(*cell),
                              of_wc ? "% of the elements refreshed" : " iterations", ms(*cell)));
    }
    context_.settle(d);
  }

  void settle_advantage() {
    Decision advantage("warp-canceling/table-1/advantage-grows-with-stiffness");
    for (std::size_t size = 0; size < (context_.quick() ? 1 : 3); ++size) {
      const SculptureCell* last = nullptr;
      for (const double young : young_) {
        const SculptureCell* cell = compared(advantage, size, young);
        if (cell != nullptr) {
          if (last != nullptr)
            advantage.above(fmt::format("{:.0f} tets: CG over WC at E = {:g}", cell->tets, young), cell->ratio(),
                            last->ratio());
          advantage.note(fmt::format("{:.0f} tets, E = {:g}: at the printed tolerances", cell->tets, young),
                         cell->printed_ratio());
          advantage.because(cell->times());
        }
        last = cell;
      }
    }
    context_.settle(advantage);
  }

  /// At quick size only the ratio of whole steps is asked for, on the smallest mesh.
  void settle_updates() {
    const bool small = context_.quick();
    const std::size_t size = small ? 0 : 1;
    Decision update("warp-canceling/section-5.2/update-against-refactorisation"),
        only("warp-canceling/table-2/only-updates-depend-on-stiffness");
    const auto updates = [](const SculptureCell& cell) {
      return cell.wc.frames.measured.mean_ms("matrix_update") + cell.wc.frames.measured.mean_ms("cholesky_update");
    };
    for (const double young : young_) {
      if (small && young == kSoft) continue;
      const SculptureCell* cell = compared(update, size, young);
      if (cell == nullptr) continue;
      needs_a_core(update, cell->full.measured), needs_a_core(update, cell->wc.frames.measured);
      const double factor = cell->full.measured.mean_ms("cholesky_update");
      if (!small && young != kSoft)
        update.at_least(fmt::format("factorisation over update, E = {:g}", young), factor / updates(*cell),
                        young == kMiddle ? 3 : 7);
      update
          .at_least(fmt::format("full step over WC's, E = {:g}", young), cell->full.measured.cpu_ms() / cell->wc_ms(),
                    1.5)
          .because(fmt::format("E = {:g}: a factorisation takes {:.2f}, updates of {:.0f}% of the elements {:.2f} ms",
                               young, factor, 100 * cell->share(), updates(*cell)));
    }
    context_.settle(update);
    const SculptureCell *b = compared(only, size, kMiddle), *c = compared(only, size, kStiff);
    if (b != nullptr && c != nullptr) {
      needs_a_core(only, b->wc.frames.measured), needs_a_core(only, c->wc.frames.measured);
      for (const char* stage : {"element_rotations", "node_rotations", "error_estimate", "right_hand_side", "solve"}) {
        const double change = c->wc.frames.measured.mean_ms(stage) / b->wc.frames.measured.mean_ms(stage);
        only.at_most(fmt::format("{}: change from E 5e7 to 5e8", stage), std::abs(change - 1), 0.1);
      }
      only.at_least("matrix and Cholesky update, E 5e7 over 5e8", updates(*b) / updates(*c), 1.8)
          .because(fmt::format("updates take {:.2f} and {:.2f} ms; {}", updates(*b), updates(*c), timed_by()));
    }
    context_.settle(only);
  }

  void settle_sizes() {
    Decision size("warp-canceling/table-1/advantage-grows-with-size"), medium("warp-canceling/table-1/medium-row");
    if (sizes_ < 2) {
      for (Decision* d : {&size, &medium})
        context_.settle(d->leave_undecided("a second size is run (--option across, --option medium_young)"));
      return;
    }
    for (const double young : context_.quick() ? context_.numbers("medium_young") : young_)
      for (std::size_t k = 1; k < (context_.quick() ? 2 : 3); ++k) {
        const SculptureCell *larger = compared(size, k, young), *smaller = compared(size, k - 1, young);
        if (larger == nullptr || smaller == nullptr) continue;
        size.above(fmt::format("E = {:g}: CG over WC, {:.0f} over {:.0f} tets", young, larger->tets, smaller->tets),
                   larger->ratio() / smaller->ratio(), 1)
            .because(fmt::format("E = {:g}: {:.2f} and {:.2f}", young, larger->ratio(), smaller->ratio()));
      }
    context_.settle(size);
    const SculptureCell* last = nullptr;
    for (const double young : young_) {
      const SculptureCell* cell = compared(medium, 1, young);
      if (cell != nullptr) {
        const std::string what = fmt::format("CG over WC at E = {:g}", young);
        if (!context_.quick())
          medium.at_least(what, cell->ratio(), young == kSoft ? 3 : young == kMiddle ? 10 : 25);
        else if (young == kSoft)
          medium.at_least(what, cell->ratio(), 2);
        else if (last != nullptr)
          medium.above(what, cell->ratio(), last->ratio());
        medium.because(cell->times());
      }
      last = cell;
    }
    context_.settle(medium);
  }

  void settle_large() {
    Decision large("warp-canceling/table-1/large-row"), stiffest("warp-canceling/table-1/stiffest-over-cg"),
        lessens("warp-canceling/section-6/advantage-lessens-over-300k");
    if (context_.quick()) {
      for (Decision* d : {&large, &stiffest, &lessens})
        context_.settle(d->leave_undecided("all nine cells are run, which takes some 12 hours on two cores"));
      return;
    }
    for (const double young : young_) {
      if (const SculptureCell* cell = compared(large, 2, young))
        large
            .at_least(fmt::format("CG over WC at E = {:g}", young), cell->ratio(),
                      young == kSoft     ? 2.2
                      : young == kMiddle ? 7
                                         : 16.5)
            .because(cell->times());
      if (const SculptureCell* cell = compared(lessens, 2, young))
        lessens.above(fmt::format("largest mesh: CG over WC at E = {:g}", young), cell->ratio(), 1);
    }
    for (const std::size_t k : {1, 2})
      if (const SculptureCell* cell = compared(stiffest, k, kStiff))
        stiffest.above(fmt::format("{:.0f} tets: CG over WC at E 5e8", cell->tets), cell->ratio(), 15)
            .because(cell->times());
    const SculptureCell *middle = compared(lessens, 1, kSoft), *largest = find(2, kSoft);
    if (middle != nullptr && largest != nullptr)
      lessens.below("CG over WC at E 5e6, largest over middle mesh", largest->ratio() / middle->ratio(), 1);
    for (Decision* d : {&large, &stiffest, &lessens}) context_.settle(*d);
  }

  Context& context_;
  std::size_t sizes_;
  std::vector<double> young_;
  std::map<std::pair<std::size_t, double>, SculptureCell> cells_;
};

/// Iterations of conjugate gradients, which no machine changes.
class CountedIterations {
 public:
  explicit CountedIterations(Context& context)
      : context_(context), sizes_(context.integers("iteration_across")), young_(context.numbers("young")) {}

  void count(int across) {
    for (const bool absolute : {false, true})
      for (double young : young_) {
        if (context_.stopped()) return;
        const Frames f = record(context_, sculpture(across, young), paper_cg(1e-4, absolute), kFrame,
                                static_cast<int>(context_.number("iteration_steps")));
        const double mean = f.measured.linear_iterations / std::max(1, f.measured.steps);
        context_.row({{"iterations_of", absolute ? "1e-4 N s" : "1e-4 relative"},
                      {"across", across},
                      {"young", young},
                      {"iterations", mean}});
        all_complete_ = all_complete_ && f.completed;
        mean_[{absolute, across, young}] = mean;
        settle();
      }
  }
  const std::vector<int>& sizes() const { return sizes_; }

 private:
  using Key = std::tuple<bool, int, double>;

  void settle() {
    Decision decision("warp-canceling/section-5.2/cg-iterations-grow");
    decision.needs(all_complete_, "all runs complete");
    const auto rises = [&](const Key& from, const Key& to, const std::string& what) {
      decision.awaits(mean_.contains(from) && mean_.contains(to), what);
      if (!mean_.contains(from) || !mean_.contains(to)) return;
      decision.above(what, mean_[to] / mean_[from], 1);
      if (mean_[to] <= mean_[from]) decision.because(fmt::format("{:.4g} and {:.4g} a frame", mean_[from], mean_[to]));
    };
    for (const bool absolute : {false, true})
      for (std::size_t k = 0; k < sizes_.size(); ++k)
        for (std::size_t e = 0; e < young_.size(); ++e) {
          const std::string kind = absolute ? "1e-4 N s: " : "1e-4 relative: ";
          const Key here = {absolute, sizes_[k], young_[e]};
          if (e > 0)
            rises({absolute, sizes_[k], young_[e - 1]}, here,
                  fmt::format("{}{} cells across, E {:g} over {:g}", kind, sizes_[k], young_[e], young_[e - 1]));
          if (k > 0)
            rises({absolute, sizes_[k - 1], young_[e]}, here,
                  fmt::format("{}E = {:g}, {} over {} cells across", kind, young_[e], sizes_[k], sizes_[k - 1]));
        }
    context_.settle(decision);
  }

  Context& context_;
  std::vector<int> sizes_;
  std::vector<double> young_;
  std::map<Key, double> mean_;
  bool all_complete_ = true;
};

void run_sculpture_drop(Context& context) {
  context.decide(
      Decision("warp-canceling/section-6/preconditioner")
          .leave_undecided("conjugate gradients can be preconditioned by the warped stale factor, which is not built"));
  SculptureTable table(context);
  CountedIterations iterations(context);
  const std::size_t sizes = context.integers("across").size();
  constexpr const char* kIterations = "warp-canceling/section-5.2/cg-iterations-grow";
  const auto own = claims_of("warp-canceling/sculpture");
  const bool times = std::any_of(
      own.begin(), own.end(), [&](const Claim* c) { return c->id != kIterations && context.wants({c->id.c_str()}); });
  if (!times) iterations.count(iterations.sizes().front());
  for (std::size_t size = 0; times && size < sizes; ++size) {
    for (double young : context.numbers(size == 0 ? "young" : "medium_young")) {
      if (context.stopped()) return;
      table.add(size, young);
    }
    if (size == 0 && context.wants({kIterations})) iterations.count(iterations.sizes().front());
  }
  if (!context.wants({kIterations})) return;
  context.progress(0.9, "iterations");
  for (std::size_t k = 1; k < iterations.sizes().size(); ++k) iterations.count(iterations.sizes()[k]);
}

}  // namespace

Experiment sculpture_drop() {
  return {
      "warp-canceling/sculpture",
      "A lattice dropped on the floor: times at equal look, stages and iterations of three methods (Tables I and II)",
      {{"across", "2,5,7", "2", "cells across a strut: 2, 5, 7 give about 7, 115 and 330 thousand tets; 3 about 25"},
       {"young", "5e6,5e7,5e8", "5e6,5e7,5e8", "Young's moduli of the smallest, Pa"},
       {"medium_young", "5e7,5e8,5e6", "5e7", "and of the larger ones, in the order in which they are run"},
       {"steps", "300", "300", "frames of the smallest"},
       {"medium_steps", "300", "100", "and of the larger ones"},
       {"iteration_across", "2,5,7", "2,3", "sizes whose iterations are counted"},
       {"iteration_steps", "300", "60", "frames of these"}},
      run_sculpture_drop};
}

}  // namespace pliant::experiments
