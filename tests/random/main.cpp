/// Random programs, each run in every way and compared: see evaluate.h. With PyTorch's answers beside, kept
/// in goldens.jsonl or asked for.
///
///     treadle_random_test [--seeds FIRST COUNT] [--seconds S] [--program FILE] [--pytorch PYTHON]
///                         [--write-goldens FILE] [--keep-going]
///
/// Without arguments: the goldens, and a fixed set of seeds. A program that fails is made small and printed;
/// FILE may hold it (one JSON object). --seconds ends the seeds after a time. Exit code 0 when all agree, 1
/// when some do not, 2 for wrong usage.
#include <fmt/core.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>

#include "tests/folders.h"
#include "tests/random/evaluate.h"
#include "tests/random/generate.h"
#include "tests/random/minimize.h"
#include "tests/random/peer.h"

namespace treadle::random_programs {
namespace {

constexpr const char* kGoldens = TREADLE_SOURCE_DIR "/tests/random/goldens.jsonl";

struct Arguments {
  uint64_t first = 1000, count = 60;
  double seconds = 1e9;
  std::string program, pytorch, write_goldens;
  bool keep_going = false, goldens = true;
};

bool parse(int count, char** words, Arguments& a) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const int left = count - i - 1;
    if (word == "--seeds" && left >= 2)
      a.first = std::stoull(words[++i]), a.count = std::stoull(words[++i]), a.goldens = false;
    else if (word == "--seconds" && left >= 1)
      a.seconds = std::stod(words[++i]);
    else if (word == "--program" && left >= 1)
      a.program = words[++i], a.goldens = false, a.count = 0;
    else if (word == "--pytorch" && left >= 1)
      a.pytorch = words[++i];
    else if (word == "--write-goldens" && left >= 1)
      a.write_goldens = words[++i], a.goldens = false;
    else if (word == "--keep-going")
      a.keep_going = true;
    else
      return false;
  }
  return true;
}

class Session {
 public:
  explicit Session(const Arguments& arguments) : arguments_(arguments) {
    if (!arguments.pytorch.empty()) peer_ = std::make_unique<Peer>(arguments.pytorch);
  }

  int run();

 private:
  /// `answer`: PyTorch's, where it is known.
  void check(const Program& program, const nlohmann::json* answer);
  std::string difference(const Program& program, const nlohmann::json* answer);
  void report(const Program& program, const std::string& message, bool can_shrink);
  void check_goldens();
  void check_seeds();
  void write_goldens();

  const Arguments& arguments_;
  std::unique_ptr<Peer> peer_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::map<std::string, std::vector<uint64_t>> refusals_;  ///< reason → seeds
  int64_t programs_ = 0, steps_ = 0, ways_ = 0, answers_ = 0, failures_ = 0;
};

std::string Session::difference(const Program& program, const nlohmann::json* answer) {
  const Expectation expectation = expect(program);
  if (std::string message = first_difference(program, expectation, ways_); !message.empty()) return message;
  nlohmann::json asked;
  if (!answer && peer_) asked = peer_->run(program), answer = &asked;
  if (!answer) return "";
  if (answer->contains("refused"))
    refusals_[answer->at("refused")].push_back(program.seed);
  else
    ++answers_;
  return difference_from_peer(expectation, *answer);
}

void Session::report(const Program& program, const std::string& message, bool can_shrink) {
  ++failures_;
  fmt::print("FAILED seed {}: {}\n", program.seed, message);
  if (can_shrink) {
    const auto still_fails = [&](const Program& candidate) {
      return !difference(candidate, nullptr).empty();
    };
    const Program small = minimized(program, still_fails);
    fmt::print("  minimised, {} of {} steps: {}\n  {}\n", small.steps.size(), program.steps.size(),
               difference(small, nullptr), to_json(small).dump());
  }
  std::fflush(stdout);
}

void Session::check(const Program& program, const nlohmann::json* answer) {
  ++programs_, steps_ += int64_t(program.steps.size());
  const std::string message = difference(program, answer);
  if (!message.empty()) report(program, message, answer == nullptr || !difference(program, nullptr).empty());
}

void Session::check_goldens() {
  std::ifstream file(kGoldens);
  for (std::string line; std::getline(file, line);) {
    const auto golden = nlohmann::json::parse(line);
    check(program_from(golden.at("program")), &golden.at("answer"));
  }
}

void Session::check_seeds() {
  for (uint64_t seed = arguments_.first; seed < arguments_.first + arguments_.count; ++seed) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (passed.count() > arguments_.seconds || (failures_ > 0 && !arguments_.keep_going)) return;
    check(generate(seed), nullptr);
  }
}

void Session::write_goldens() {
  std::ofstream file(arguments_.write_goldens);
  for (uint64_t seed = 1; seed <= arguments_.count; ++seed) {
    const Program program = generate(seed);
    const nlohmann::json answer = peer_->run(program);
    if (answer.contains("refused")) continue;
    file << nlohmann::json{{"program", to_json(program)}, {"answer", answer}}.dump() << "\n";
  }
}

int Session::run() {
  if (!arguments_.write_goldens.empty()) return write_goldens(), 0;
  if (arguments_.goldens) check_goldens();
  if (!arguments_.program.empty()) {
    std::ifstream file(arguments_.program);
    check(program_from(nlohmann::json::parse(file)), nullptr);
  }
  check_seeds();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
  fmt::print("random programs: {} programs of {:.1f} steps, {} ways, {} answers of PyTorch, {:.1f} s\n",
             programs_, double(steps_) / double(std::max<int64_t>(programs_, 1)), ways_, answers_,
             seconds.count());
  for (auto& [reason, seeds] : refusals_)
    fmt::print("  PyTorch refused {}, seed {} first: {}\n", seeds.size(), seeds.front(), reason);
  fmt::print("{} failed\n", failures_);
  return failures_ > 0 || programs_ == 0 ? 1 : 0;
}

}  // namespace
}  // namespace treadle::random_programs

int main(int count, char** words) {
  using namespace treadle::random_programs;
  Arguments arguments;
  if (!parse(count, words, arguments) || (!arguments.write_goldens.empty() && arguments.pytorch.empty())) {
    fmt::print(stderr,
               "usage: {} [--seeds FIRST COUNT] [--seconds S] [--program FILE] [--pytorch PYTHON] "
               "[--write-goldens FILE] [--keep-going]\n",
               words[0]);
    return 2;
  }
  try {
    return Session(arguments).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
