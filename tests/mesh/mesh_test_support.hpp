#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "pliant/base/error.hpp"
#include "pliant/mesh/tet_mesh.hpp"

namespace pliant::test {

/// The message of the InputError `action` throws; a failure if it throws none.
template <class Action>
std::string input_error(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return {};
}

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" lacks \"" << part << "\"";
}

/// Writes `content` under GoogleTest's temporary folder, a file of its own for each test and name.
inline std::filesystem::path write_file(const std::string& name, const std::string& content) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      (std::string("pliant-") + info->test_suite_name() + "-" + info->name());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << content;
  return folder / name;
}

/// The unit tetrahedron 0, e1, e2, e3.
inline MeshData unit_tet() {
  MeshData data;
  data.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)};
  data.tets = {{0, 1, 2, 3}};
  data.source = "test";
  return data;
}

}  // namespace pliant::test
