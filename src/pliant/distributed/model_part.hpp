#pragma once

#include <string>
#include <vector>

#include "pliant/distributed/partition.hpp"

namespace pliant {

struct Scene;

/// What one process has of a model, as plain data that can be sent: its elements with their nodes, numbered anew, how
/// these fit into the whole, and what acts on them. All else is in the scene, which every process reads.
struct ModelPart {
  struct OfBody {
    std::size_t number = 0;  ///< among the bodies of the scene
    MeshData mesh;
    std::vector<Lame> lame;  ///< one, or one per element
    /// Of each kind of fibres in the scene, one or one per element.
    std::vector<std::vector<FibreParameters>> fibre_parameters;
    std::vector<std::vector<Vec3>> fibre_directions;
  };
  std::vector<OfBody> bodies;
  Index all_nodes = 0;              ///< of the whole model
  std::vector<Index> nodes;         ///< the number of each node in the whole model
  std::vector<std::uint8_t> owned;  ///< whether the node is this process's
  /// Nodes that another process has as well, in the same order there.
  struct Neighbour {
    int rank = 0;
    std::vector<Index> nodes;
  };
  std::vector<Neighbour> neighbours;  ///< by ascending rank

  /// Of the pins and scripts of the scene, in its order; the nodes of some may all be elsewhere.
  std::vector<std::vector<Index>> pinned, scripted;
  std::vector<std::vector<Vec3>> script_fields;  ///< as Motion::field
  VecX force;                              ///< constant, on nodes that are this process's, N; empty: gravity alone
  VecX velocity;                           ///< at the beginning, m/s
  std::vector<DeadLoad> timed_loads;       ///< on nodes that are this process's
  std::vector<SurfaceLoad> surface_loads;  ///< on faces of elements here
  /// Of the probes of the scene, in its order: the vertices they look at, by their numbers in the body here.
  std::vector<std::vector<Index>> probed;
};

/// Throws InputError, with a remedy, for what is not divided among processes (docs/scale.md).
void check_divisible(const Scene& scene);
void check_divisible(const Model& model);

/// The vertices that each probe of a scene looks at, ascending. Throws InputError as ProbeSet does.
std::vector<std::vector<Index>> probed_vertices(const Scene& scene, const std::shared_ptr<const Model>& whole);

ModelPart part_of(const Scene& scene, const Model& whole, const Partition& partition, int rank,
                  const std::vector<std::vector<Index>>& probed);
/// Lets the probes of a scene select what a part has of them.
void look_at_part(Scene& scene, const ModelPart& part);

std::string to_bytes(const ModelPart& part);
ModelPart part_from_bytes(const std::string& bytes);

/// The process's part as a model. All processes call it together.
std::shared_ptr<const Model> build_part(const Scene& scene, ModelPart part, std::shared_ptr<Sharing> sharing);

}  // namespace pliant
