// Figs. 5 and 6 of pxpbd: greedy colouring of elements, on meshes once for all and on a background grid in every step.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/measure.hpp"
#include "experiments/meshes.hpp"
#include "experiments/pxpbd/pxpbd.hpp"
#include "experiments/pxpbd/sweeps.hpp"
#include "pliant/mesh/colouring.hpp"
#include "pliant/solvers/catalogue.hpp"
#include "pliant/solvers/pxpbd/background_grid.hpp"

namespace pliant::experiments {

namespace {

/// Elements of a colour that share a node with an earlier one of it.
Index conflicts(Index nodes, std::span<const Index> start, std::span<const Index> incident,
                std::span<const Index> colours) {
  std::vector<std::set<Index>> met(static_cast<std::size_t>(nodes));
  Index count = 0;
  for (std::size_t e = 0; e < colours.size(); ++e) {
    std::set<Index> own(incident.begin() + start[e], incident.begin() + start[e + 1]);
    bool clash = false;
    for (Index i : own) clash = !met[static_cast<std::size_t>(i)].insert(colours[e]).second || clash;
    count += clash;
  }
  return count;
}

void decide_meshes(Context& context) {
  Decision decision("pxpbd/fig-5/colouring");
  const OneThread one;
  for (const std::string& name : context.list("bodies")) {
    if (context.stopped()) return;
    const auto mesh = std::make_shared<TetMesh>(*find_mesh(context, name));
    std::vector<Index> start{0}, incident, colours(mesh->tets().size(), -1), at(mesh->vertices().size(), 0);
    for (const Tet& t : mesh->tets()) {
      for (Index i : t) {
        incident.push_back(i);
        ++at[static_cast<std::size_t>(i)];
      }
      start.push_back(static_cast<Index>(incident.size()));
    }
    const ProcessorTime clock;
    const Index count = colour_elements(static_cast<Index>(at.size()), start, incident, colours);
    const double seconds = clock.seconds();
    BodyOptions body;
    body.mesh = mesh;
    body.material = {find_law("fixed-corotated"), lame_from_young(1e3, 0.3)};
    body.density = 10;
    ModelBuilder builder;
    builder.add_body(body);
    const auto model = builder.build();
    const auto stepper = make_stepper(model, "fp-pxpbd", sweeps_alone({{"iterations", std::int64_t{20}}}));
    State state = model->rest_state();
    stepper->step(state, kPaperStep);
    const ProcessorTime sweeping;
    stepper->step(state, kPaperStep);
    const double twenty = sweeping.seconds();
    const Index clashes = conflicts(static_cast<Index>(at.size()), start, incident, colours);
    decision.equal(name + ": elements that share a vertex with one of their colour", clashes, 0)
        .at_most(name + ": colours over the most elements at a vertex",
                 static_cast<double>(count) / *std::max_element(at.begin(), at.end()), 4)
        .below(name + ": time of colouring over 20 sweeps", seconds / twenty, 1);
    context.row({{"mesh", name},
                 {"elements", colours.size()},
                 {"colours", count},
                 {"ms", 1e3 * seconds},
                 {"ms_20_sweeps", 1e3 * twenty}});
  }
  if (decision.verdict() == Verdict::fails) decision.because("see colours and milliseconds of each mesh");
  context.decide(decision);
}

void decide_grid(Context& context) {
  Decision grid("pxpbd/fig-6/grid-colouring"), warm("pxpbd/fig-6/warm-start");
  const auto mesh = std::make_shared<TetMesh>(*find_mesh(context, context.text("grid_body")));
  double edge = 0;
  for (const Tet& t : mesh->tets()) {
    double longest = 0;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = 0; b < a; ++b)
        longest = std::max(longest, (mesh->vertices()[static_cast<std::size_t>(t[a])] -
                                     mesh->vertices()[static_cast<std::size_t>(t[b])])
                                        .norm());
    edge += longest / static_cast<double>(mesh->tets().size());
  }
  pbd::BackgroundGrid background(edge);
  VecX x(3 * static_cast<Index>(mesh->vertices().size()));
  for (std::size_t i = 0; i < mesh->vertices().size(); ++i) node(x, static_cast<Index>(i)) = mesh->vertices()[i];
  std::vector<Index> colours(mesh->tets().size(), -1);
  const OneThread one;
  Index clashes = 0, most_nodes = 0;
  double changed = 0, ratio = 0;
  std::vector<double> cold, warmed;
  for (int step = 0; step < 50 && !context.stopped(); ++step) {  // falls by 0.4 cells a substep
    for (Index i = 0; i < x.size() / 3; ++i) node(x, i) += edge * Vec3(0.05, -0.4, 0.02);
    background.cover(x);
    std::vector<Index> start{0}, incident;
    for (const Tet& t : mesh->tets()) {
      std::set<Index> nodes;
      for (Index i : t) {
        const auto& point = background.points()[static_cast<std::size_t>(i)];
        nodes.insert(point.nodes.begin(), point.nodes.end());
      }
      most_nodes = std::max(most_nodes, static_cast<Index>(nodes.size()));
      incident.insert(incident.end(), nodes.begin(), nodes.end());
      start.push_back(static_cast<Index>(incident.size()));
    }
    std::vector<Index> anew(colours.size(), -1);
    const ProcessorTime scratch;
    const Index many = colour_elements(background.node_count(), start, incident, anew);
    cold.push_back(scratch.seconds());
    const std::vector<Index> before = colours;
    const ProcessorTime again;
    const Index kept = colour_elements(background.node_count(), start, incident, colours);
    if (step > 0) {
      warmed.push_back(again.seconds());
      double moved = 0;
      for (std::size_t e = 0; e < colours.size(); ++e) moved += colours[e] != before[e];
      changed = std::max(changed, moved / static_cast<double>(colours.size()));
      ratio = std::max(ratio, static_cast<double>(kept) / many);
    }
    clashes += conflicts(background.node_count(), start, incident, colours);
  }
  grid.equal("elements that share a grid node with one of their colour, in 50 substeps", clashes, 0)
      .at_most("most grid nodes of an element", most_nodes, 32);
  warm.needs(changed >= 0.01, "at least 1% of the elements change colour in some substep")
      .below("median time from the last colours over that from scratch", median(warmed) / median(cold), 1)
      .equal("elements that share a grid node with one of their colour", clashes, 0)
      .at_most("colours over those from scratch, at most", ratio, 1.3)
      .note("largest share of elements that change colour", changed);
  if (warm.verdict() == Verdict::fails)
    warm.because(fmt::format("{:.2f} ms from the last colours, {:.2f} ms from scratch, with {:.2f} times the colours",
                             1e3 * median(warmed), 1e3 * median(cold), ratio));
  context.row({{"mesh", context.text("grid_body")},
               {"ms_scratch", 1e3 * median(cold)},
               {"ms_warm", 1e3 * median(warmed)},
               {"changed", changed},
               {"ratio", ratio}});
  context.decide(grid);
  context.decide(warm);
}

void run_colouring(Context& context) {
  if (context.text("meshes").empty()) {
    for (const Claim* own : claims_of("pxpbd/colouring"))
      context.decide(Decision(own->id).leave_undecided("a folder with the meshes was given (option meshes)"));
    return;
  }
  decide_meshes(context);
  if (!context.stopped()) decide_grid(context);
}

}  // namespace

Experiment pxpbd_colouring() {
  return {"pxpbd/colouring",
          "Colours of elements on meshes and on grids (figs. 5, 6)",
          {meshes_option("all meshes of the list"),
           {"bodies",
            "thin_sheet,sphere,ditto,hippo,longbar2,bunny,squirrel_modified,dog,Armadillo13K,mat40x40,torus,sphere1K",
            "thin_sheet,sphere,ditto,hippo,torus,sphere1K", "to colour"},
           {"grid_body", "bunny", "sphere", "that falls through the grid"}},
          run_colouring};
}

}  // namespace pliant::experiments
