#include "experiments/other_load.hpp"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <limits>
#include <string>

namespace pliant::experiments {

namespace {

double busy_seconds_of_all() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, stolen = 0;
  if (!(stat >> name >> user >> nice >> system >> idle >> wait >> irq >> soft >> stolen) || name != "cpu")
    return std::numeric_limits<double>::quiet_NaN();
  return (user + nice + system + irq + soft + stolen) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

OtherLoad::OtherLoad() : busy_(busy_seconds_of_all()), own_(own_seconds()), clock_(clock_seconds()) {}

double OtherLoad::cores() const {
  return (busy_seconds_of_all() - busy_ - (own_seconds() - own_)) / (clock_seconds() - clock_);
}

}  // namespace pliant::experiments
