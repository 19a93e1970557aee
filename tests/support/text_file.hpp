#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace pliant {

inline std::string file_content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace pliant
