#include "pliant/io/build_info.hpp"

#include <fstream>
#include <thread>

#include "pliant/version.hpp"
#include "pliant_commit.hpp"  // written by cmake/GitCommit.cmake at every build

namespace pliant {

std::string version() { return PLIANT_VERSION; }

std::string commit() { return PLIANT_COMMIT; }

Machine this_machine() {
  Machine machine{"unknown", std::thread::hardware_concurrency()};
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) {
      machine.processor = line.substr(line.find(':') + 2);
      break;
    }
  return machine;
}

}  // namespace pliant
