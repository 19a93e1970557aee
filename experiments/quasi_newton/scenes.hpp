#pragma once

#include "experiments/quasi_newton/frames.hpp"
#include "pliant/mesh/spring_network.hpp"

namespace pliant::experiments {

/// A row of Table I: what it is made of, and what the paper measured.
struct Table1Row {
  std::string id, name, mesh, law;
  double mu, lambda;    ///< before calibration, in the units of the authors' code: mass 10, gravity 10
  double factor;        ///< on the moduli, where the search for the calibration begins
  int frames, sampled;  ///< at full size
  int quick_frames, quick_sampled;
  double ours, newton, ours_ms, newton_ms, line_search;  ///< published
};

const std::vector<Table1Row>& table1_rows();
const Table1Row& table1_row(const std::string& id);

/// The scene of a row, its moduli multiplied by `factor`. `cells`: of the cloth along an edge.
FrameScene table1_frame_scene(const Table1Row& row, const MeshData& mesh, double factor);
FrameScene cloth_scene(Index cells, double factor);

/// A body of the authors' code: total mass 10, spread by volume.
BodyOptions ten_kilograms(std::shared_ptr<const TetMesh> mesh, const std::string& law, Lame lame);
/// A free or held body without motion, gravity 10.
FrameScene body_scene(const BodyOptions& body, const std::vector<Pin>& pins, const std::vector<Script>& scripts);

/// The nodes of one end face, within a thousandth of the extent, or the `count` outermost along an axis.
std::vector<Index> end_face(const TetMesh& mesh, int axis, bool upper);
std::vector<Index> outermost(const TetMesh& mesh, const Vec3& direction, std::size_t count);
int longest_axis(const TetMesh& mesh);

/// A motion to and fro: `reach` there in `frames` frames, back in as many, and so on for `seconds`.
Script swing(std::vector<Index> nodes, const Vec3& reach, double frames, double seconds);
/// Twisting bar: both end faces held, the upper one turned once in two seconds.
FrameScene twisting_bar(const std::shared_ptr<const TetMesh>& mesh, Lame lame);

/// Network of the paper's cloth: one diagonal a cell, alternating, and springs between vertices two apart.
SpringNetwork paper_cloth(Index cells, double size);

}  // namespace pliant::experiments
