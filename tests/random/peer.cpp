#include "tests/random/peer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>

#include "tests/folders.h"
#include "tests/goldens/golden_numbers.h"
#include "treadle/core/error.h"

namespace treadle::random_programs {
namespace {

[[noreturn]] void become(const std::string& python, int in, int out) {
  dup2(in, STDIN_FILENO), dup2(out, STDOUT_FILENO);
  execlp(python.c_str(), python.c_str(), TREADLE_SOURCE_DIR "/tests/random/run_in_pytorch.py", nullptr);
  _exit(127);
}

}  // namespace

Peer::Peer(const std::string& python) {
  int there[2], back[2];
  require(pipe(there) == 0 && pipe(back) == 0, "no pipe to {}", python);
  process_ = fork();
  if (process_ == 0) {
    close(there[1]), close(back[0]);
    become(python, there[0], back[1]);
  }
  close(there[0]), close(back[1]);
  to_ = fdopen(there[1], "w"), from_ = fdopen(back[0], "r");
}

Peer::~Peer() {
  std::fclose(to_), std::fclose(from_);
  waitpid(process_, nullptr, 0);
}

nlohmann::json Peer::run(const Program& program) {
  const std::string line = to_json(program).dump() + "\n";
  std::fputs(line.c_str(), to_), std::fflush(to_);
  std::string answer;
  for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';) answer += char(c);
  require(!answer.empty(), "PyTorch's process ended");
  return nlohmann::json::parse(answer);
}

std::string difference_from_peer(const Expectation& expectation, const nlohmann::json& answer) {
  if (answer.contains("refused")) return "";
  const Evaluation& exact = expectation.exact;
  const nlohmann::json& tensors = answer.at("tensors");
  for (size_t t = 0; t < exact.tensors.size(); ++t) {
    const auto shape = tensors[t].at("shape").get<std::vector<int64_t>>();
    if (shape != std::vector<int64_t>(exact.shapes[t].begin(), exact.shapes[t].end()))
      return fmt::format("{} has shape {}, PyTorch's {}", exact.names[t], to_string(exact.shapes[t]),
                         tensors[t].at("shape").dump());
    const auto got = goldens::measures(exact.tensors[t]);
    const auto wanted = tensors[t].at("measures").get<std::vector<double>>();
    // Each measure sums all elements, with factors of 1 at most; both sides may be off.
    const double allowed = 2 * double(exact.tensors[t].size()) * expectation.allowed_in_f64(t);
    for (size_t m = 0; m < got.size(); ++m)
      if (!(std::fabs(got[m] - wanted[m]) <= allowed))
        return fmt::format("{}: {} is {:.17g} in f64, PyTorch's {:.17g}, allowed {:.2g}", exact.names[t],
                           m == 0 ? "the norm" : fmt::format("projection {}", m - 1), got[m], wanted[m],
                           allowed);
  }
  return "";
}

}  // namespace treadle::random_programs
