// The twisting mat of pitfalls (section 10.3.2, fig. 14): a soft thin mat is twisted at two opposite edges, wraps
// around itself many times over, and is released after 11 s. Self-contact all over, no friction, no gravity.

#include <cmath>
#include <numbers>

#include "experiments/contact/contact.hpp"
#include "experiments/pitfalls/contact_table.hpp"
#include "pliant/mesh/read_mesh.hpp"

namespace pliant::experiments {

namespace {

/// 1 x 1 m, `cells` along its edges, one layer of cells; or a mesh, scaled to 1 m along x.
BodyOptions mat(const std::string& path, int cells) {
  BodyOptions body = block({.name = "mat", .size = {1, 0.02, 1}, .cells = {cells, 1, cells}, .young = 2e4});
  if (path.empty()) return body;
  MeshData data = read_mesh_data(path);
  Vec3 low = data.vertices.front(), high = low;
  for (const Vec3& v : data.vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
  const double scale = 1 / (high - low).maxCoeff();
  for (Vec3& v : data.vertices) v = scale * (v - 0.5 * (low + high));
  body.mesh = std::make_shared<TetMesh>(std::move(data));
  return body;
}

std::shared_ptr<const Model> mat_model(const BodyOptions& body, double turns_per_second, double release) {
  ModelBuilder builder;
  builder.set_mass(MassKind::consistent);
  builder.add_body(body);
  const auto vertices = builder.body(0).vertices();
  double most = 0;
  for (const Vec3& v : vertices) most = std::max(most, v.x());
  for (double side : {-1.0, 1.0}) {
    Script script;
    script.name = side < 0 ? "left" : "right";
    for (Index i = 0; i < static_cast<Index>(vertices.size()); ++i)
      if (side * vertices[i].x() > most * (1 - 1e-6)) script.nodes.push_back(i);
    script.motion.axis = Vec3::UnitX();
    script.motion.angle.keys = {{0, 0.0}, {release, side * 2 * std::numbers::pi * turns_per_second * release}};
    script.sigma = 1e8;
    script.release = release;
    builder.add_script(script);
  }
  builder.set_contact({.dhat = 1.4e-3});
  return builder.build();
}

void run_twisting_mat(Context& context) {
  const BodyOptions body = mat(context.text("mesh"), static_cast<int>(context.number("cells")));
  const auto model = mat_model(body, context.number("speed"), context.number("release"));
  if (!run_contact_table(context, contact_table(context, model))) return;
  check_apart(context);
  check_pod_newton_is_best(context, "coarse: PDN and PN similar, N 1.4x, KN more; fine: N just ahead of PDN");
  check_contact_share(context);
}

}  // namespace

Experiment twisting_mat() {
  std::vector<Option> options = {
      {"mesh", "", "", "path of a tetrahedral mesh of the mat, flat in y; empty: generated"},
      {"cells", "97", "16", "cells along an edge; 97 give the paper's 19.5 thousand vertices"},
      {"speed", "0.2", "0.4", "turns per second of each end"},
      {"release", "11", "2.5", "when the mat is let go, s"},
      {"duration", "15", "3", "simulated seconds"}};
  for (Option& option : contact_table_options()) options.push_back(std::move(option));
  return {"pitfalls/twisting-mat", "A soft mat is twisted onto itself and released (fig. 14)", options,
          run_twisting_mat};
}

}  // namespace pliant::experiments
