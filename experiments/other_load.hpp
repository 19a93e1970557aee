#pragma once

namespace pliant::experiments {

/// How many cores other programs have kept busy since it was made, on average: what is timed on several threads needs
/// them free. Not a number where the system does not tell (/proc/stat).
class OtherLoad {
 public:
  OtherLoad();
  double cores() const;

 private:
  double busy_, own_, clock_;
};

}  // namespace pliant::experiments
