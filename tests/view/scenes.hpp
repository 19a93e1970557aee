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

}  // namespace pliant::view::testing
