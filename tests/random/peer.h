/// PyTorch in a process of its own, which answers programs.
#pragma once

#include <cstdio>
#include <string>

#include "tests/random/evaluate.h"

namespace treadle::random_programs {

/// Runs run_in_pytorch.py with a Python that has PyTorch.
class Peer {
 public:
  explicit Peer(const std::string& python);
  ~Peer();
  Peer(const Peer&) = delete;

  /// Its answer: see run_in_pytorch.py. Throws when there is none.
  nlohmann::json run(const Program& program);

 private:
  FILE *to_ = nullptr, *from_ = nullptr;
  int process_ = -1;
};

/// How the f64 results differ from PyTorch's answer; empty where they agree, or PyTorch refused.
std::string difference_from_peer(const Expectation& expectation, const nlohmann::json& answer);

}  // namespace treadle::random_programs
