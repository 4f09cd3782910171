#pragma once

#include <map>
#include <string>

#include "treadle/graph/settings.h"

namespace treadle::cli {

/// The variant of an op that runs while this lives, null for the user's; restores the user's choice.
class ChosenVariant {
 public:
  ChosenVariant(const std::string& op, const char* variant) : before_(settings().variants) {
    if (variant) settings().variants[op] = variant;
  }
  ~ChosenVariant() { settings().variants = before_; }
  ChosenVariant(const ChosenVariant&) = delete;
  ChosenVariant& operator=(const ChosenVariant&) = delete;

 private:
  std::map<std::string, std::string> before_;
};

}  // namespace treadle::cli
