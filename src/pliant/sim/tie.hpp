#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pliant/energies/tie_energy.hpp"

namespace pliant {

struct Body;

/// A spring from a place of a body to a place of a body or of the world, for ModelBuilder. Places are where bodies are
/// at rest; one beside its body belongs to the nearest part of it.
struct SpringOptions {
  std::string name = "spring";
  std::size_t body = 0;
  Vec3 place = Vec3::Zero();           ///< m
  std::optional<std::size_t> to_body;  ///< none: the world
  Vec3 to = Vec3::Zero();              ///< m
  double stiffness = 0;                ///< N/m
  std::optional<double> rest_length;   ///< m; as long as it is at rest where there is none
  double damping = 0;                  ///< along the spring, N s/m
};

/// Vertices of a body that are tied to another body where this is nearest, or that slide along a line or over a plane
/// of it or of the world, for ModelBuilder.
struct AttachmentOptions {
  std::string name = "attachment";
  std::size_t body = 0;
  std::vector<Index> vertices;
  std::optional<std::size_t> to_body;  ///< none: the world, for what slides
  double stiffness = 0;  ///< of each tie, N/m; zero: a hundred times that of an element of the softer body
  double damping = 0;    ///< of each tie, of what slides along its way, N s/m
  TieFreedom freedom = TieFreedom::none;
  Vec3 direction = Vec3::UnitX();  ///< of the line or the plane's normal, as the other body is at rest
};

/// The ties of a model that one spring, attachment or joint is made of.
struct TieGroup {
  enum class Kind { spring, attachment, joint };
  Kind kind = Kind::spring;
  std::string name;
  std::size_t body = 0;  ///< whose places are the first ends
  Range ties;            ///< of TieEnergy::ties()
};

/// Throw InputError.
Tie make_spring(const SpringOptions& options, const std::vector<Body>& bodies);
std::vector<Tie> make_attachment(const AttachmentOptions& options, const std::vector<Body>& bodies);

}  // namespace pliant
