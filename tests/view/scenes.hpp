#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace pliant::view::testing {

/// A beam of a law that every solver takes, held at one end.
inline const std::string kBeam = R"(
version = 1
title = "A beam"
[simulation]
dt = 0.015625
frames = 60
gravity = [0, 0, 0]
[[body]]
name = "beam"
box = {size = [2, 1, 1], cells = [4, 2, 2]}
material = "fixed-corotated"
young = 1e5
poisson = 0.3
density = 1000
damping = {mass = 4}
[[pin]]
body = "beam"
where = "x-min"
[solver]
name = "quasi-newton"
)";

inline std::filesystem::path folder_with(const std::string& name, const std::string& file, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("pliant_view_" + name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder / file) << text;
  return folder;
}

/// A rigid block beside the beam, thrown into a spin: what holds it in shape would be the greatest stress in the scene.
inline const std::string kSpinningBlock = R"(
[[rigid]]
name = "block"
box = {centre = [5, 0, 0], size = [1, 0.5, 0.5]}
angular_velocity = [0, 0, 20]
)";

/// A visual mesh of five vertices about the beam.
inline const std::string kRoof =
    "v 0 0 0\nv 2 0 0\nv 2 0 1\nv 0 0 1\nv 1 1.3 0.5\nf 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n";

/// The beam with the visual mesh in this folder, a spring at its end, and a probe of that.
inline std::string dressed_beam(const std::filesystem::path& folder) {
  std::string text = kBeam;
  const std::string key = "[[body]]\n";
  text.insert(text.find(key) + key.size(), "visual = \"" + (folder / "roof.obj").string() + "\"\n");
  return text +
         "[[spring]]\nname = \"rope\"\nat = [2, 1, 0.5]\nto = [2, 3, 0.5]\nrest_length = 1\nstiffness = "
         "1e4\n[[probe]]\nname = \"rope\"\nspring = \"rope\"\nquantities = [\"force\", \"length\"]\n";
}

}  // namespace pliant::view::testing
