// The basic impact of pitfalls (section 10.3.1, fig. 13): a box falls at 10 m/s onto a cuboid whose sides are held,
// soft and as steel. All solvers work hard here; for steel the standard line search fails where the robust one does
// not.

#include <fmt/format.h>

#include <cmath>

#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/contact_table.hpp"

namespace pliant::experiments {

namespace {

constexpr double kPaperFinest = 1e-4;  ///< of its tolerances, m/s

struct Substance {
  std::string name;
  double young, poisson, density;
};

/// A 0.5 m cube above a 1.5 x 0.5 x 1.5 m slab, `cells` cells per half metre.
std::shared_ptr<const Model> impact_model(const Substance& substance, int cells) {
  ModelBuilder builder;
  builder.set_gravity({0, -9.81, 0});
  builder.set_mass(MassKind::consistent);
  BlockOptions slab{
      .name = "slab", .size = {1.5, 0.5, 1.5}, .at = {0, -0.25, 0}, .cells = {3 * cells, cells, 3 * cells}};
  BlockOptions cube{
      .name = "cube", .size = Vec3::Constant(0.5), .at = {0.02, 0.35, 0.03}, .cells = {cells, cells, cells}};
  for (BlockOptions* b : {&slab, &cube}) {
    b->young = substance.young;
    b->poisson = substance.poisson;
    b->density = substance.density;
  }
  cube.velocity = {0, -10, 0};
  builder.add_body(block(slab));
  builder.add_body(block(cube));
  Pin sides{"sides", {}};
  const auto vertices = builder.body(0).vertices();
  for (Index i = 0; i < static_cast<Index>(vertices.size()); ++i)
    if (std::max(std::abs(vertices[i].x()), std::abs(vertices[i].z())) > 0.75 - 1e-9) sides.nodes.push_back(i);
  builder.add_pin(sides);
  builder.set_contact({.dhat = 1e-3, .friction = 0.1, .eps_v = 1e-3});
  return builder.build();
}

void run_basic_impact(Context& context) {
  const auto cells = static_cast<int>(context.number("cells"));
  const Substance soft{"soft", 1e6, 0.4, 1000}, stiff{"stiff", 220e9, 0.3, 8000};
  for (const Substance& substance : {soft, stiff}) {
    ContactTable table;
    table.model = impact_model(substance, cells);
    table.steps = static_cast<int>(context.number(substance.name + "_steps"));
    table.solvers = context.list("solvers");
    table.tolerances = context.numbers(substance.name == "stiff" ? "stiff_eps_d" : "eps_d");
    table.line_searches = {"robust", "armijo"};
    table.max_iterations = static_cast<int>(context.number("max_iterations"));
    if (!run_contact_table(context, table, {{"material", substance.name}})) return;
  }
  // Runs of a material and line search that finished, of how many; with the paper's tolerances, or with finer ones.
  struct Count {
    int finished = 0, runs = 0;
    std::string text() const { return fmt::format("{} of {}", finished, runs); }
    std::string failed() const { return fmt::format("{} of {}", runs - finished, runs); }
  };
  const auto count = [&](const std::string& material, const std::string& search, bool finer) {
    Count n;
    for (const Json& row : context.rows()) {
      const bool is_finer = row["eps_d"].get<double>() < kPaperFinest;
      if (row["material"] != material || row["line_search"] != search || is_finer != finer) continue;
      ++n.runs;
      n.finished += row["outcome"] == "completed";
    }
    return n;
  };
  const Count robust = count("stiff", "robust", false), standard = count("stiff", "armijo", false);
  context.check({"stiff: the robust line search finishes in all configurations", "8 of 8", robust.text(),
                 robust.finished == robust.runs});
  context.check({"stiff: the standard line search fails in several", "6 of 8", standard.failed(),
                 standard.runs - standard.finished >= 2});
  const Count fine = count("stiff", "robust", true), standard_fine = count("stiff", "armijo", true);
  if (fine.runs > 0) {
    context.check({"stiff, finer tolerances than the paper's: the robust line search finishes in all", "not run",
                   fine.text(), fine.finished == fine.runs});
    context.check({"stiff, finer tolerances than the paper's: the standard one fails in several", "not run",
                   standard_fine.failed(), standard_fine.runs - standard_fine.finished >= 2});
  }
  const Count soft_robust = count("soft", "robust", false), soft_standard = count("soft", "armijo", false);
  context.check({"soft: both finish in all", "8 of 8", soft_robust.text() + " and " + soft_standard.text(),
                 soft_robust.finished == soft_robust.runs && soft_standard.finished == soft_standard.runs});
  int intersecting = 0;
  for (const Json& row : context.rows()) intersecting += row["intersecting_steps"].get<int>();
  context.check({"no state intersects, by an exact test", 0, intersecting, intersecting == 0});
}

}  // namespace

Experiment basic_impact() {
  std::vector<Option> options = {
      {"cells", "10", "3", "cells per half metre; 10 come close to the paper's 10.5 thousand vertices"},
      {"soft_steps", "90", "15", "steps of 1/60 s with the soft material"},
      {"stiff_steps", "10", "10", "steps of 1/60 s with steel"},
      {"stiff_eps_d", "0.01,0.0001,1e-6,1e-8", "0.01,0.0001,1e-6,1e-8",
       "tolerances with steel, m/s: the paper's two, with which our steps end before rounding matters, and finer "
       "ones"}};
  for (Option& option : contact_table_options()) {
    if (option.key == "eps_d") option.quick_fallback = "0.01,0.0001";
    options.push_back(std::move(option));
  }
  return {"pitfalls/basic-impact", "A box hits a slab at 10 m/s, soft and steel, with both line searches (fig. 13)",
          options, run_basic_impact};
}

}  // namespace pliant::experiments
