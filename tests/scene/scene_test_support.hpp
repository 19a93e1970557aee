#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pliant/base/error.hpp"
#include "pliant/scene/scene.hpp"

namespace pliant::test {

/// A small scene that is right; tests change one line of it. Line numbers in messages count from its first line.
inline const std::vector<std::string>& good_lines() {
  static const std::vector<std::string> lines = {
      "version = 1",                                  // 1
      "name = \"good\"",                              // 2
      "[simulation]",                                 // 3
      "dt = 0.01",                                    // 4
      "duration = 0.1",                               // 5
      "[[body]]",                                     // 6
      "name = \"bar\"",                               // 7
      "box = {size = [2, 1, 1], cells = [4, 2, 2]}",  // 8
      "young = 4e5",                                  // 9
      "poisson = 0.4",                                // 10
      "density = 1000",                               // 11
      "[[pin]]",                                      // 12
      "name = \"wall\"",                              // 13
      "where = \"x-min\"",                            // 14
      "[[script]]",                                   // 15
      "name = \"grip\"",                              // 16
      "where = \"x-max\"",                            // 17
      "translate = [1, 0, 0]",                        // 18
      "[solver]",                                     // 19
      "name = \"pod-newton\"",                        // 20
  };
  return lines;
}

/// The good scene with line `number` replaced (0: nothing) and `more` appended.
inline std::string scene_with(std::size_t number, const std::string& line, const std::string& more = {}) {
  std::string text;
  for (std::size_t i = 0; i < good_lines().size(); ++i) text += (i + 1 == number ? line : good_lines()[i]) + "\n";
  return text + more;
}

/// Loads and builds; the message of what went wrong, or "" when nothing did.
inline std::string error_of(const std::string& text, const SceneChanges& changes = {}) {
  try {
    const Scene scene = parse_scene(text, "scene.toml", ".", changes);
    make_stepper(scene, build_model(scene));
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

/// The message contains every fragment.
inline void expect_error(const std::string& text, const std::vector<std::string>& fragments,
                         const SceneChanges& changes = {}) {
  const std::string message = error_of(text, changes);
  for (const std::string& fragment : fragments)
    EXPECT_NE(message.find(fragment), std::string::npos) << "looked for: " << fragment << "\nin: " << message;
}

}  // namespace pliant::test
