#include "treadle/simt/executor.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "treadle/core/parallel_for.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// Parses digits only; throws ValueError.
uint64_t parse_number(const std::string& text, const char* name) {
  const bool digits =
      !text.empty() && text.size() < 20 && text.find_first_not_of("0123456789") == std::string::npos;
  require<ValueError>(digits, "{}: \"{}\" is not a number", name, text);
  return std::strtoull(text.c_str(), nullptr, 10);
}

unsigned workers_at_start() {
  const char* text = std::getenv("TREADLE_SIMT_WORKERS");
  if (text == nullptr) return static_cast<unsigned>(default_threads().count);
  const uint64_t count = parse_number(text, "TREADLE_SIMT_WORKERS");
  require<ValueError>(count >= 1 && count <= 1024, "TREADLE_SIMT_WORKERS: {} is not between 1 and 1024",
                      count);
  return static_cast<unsigned>(count);
}

Schedule schedule_at_start() {
  const char* text = std::getenv("TREADLE_SIMT_SCHEDULE");
  return text == nullptr ? Schedule{} : parse_schedule(text);
}

double limit_at_start() {
  const char* text = std::getenv("TREADLE_SIMT_LIMIT");
  return text == nullptr ? 60. : static_cast<double>(parse_number(text, "TREADLE_SIMT_LIMIT"));
}

struct Settings {
  std::atomic<unsigned> workers{workers_at_start()};
  std::atomic<uint64_t> patience{uint64_t{1} << 22};
  std::atomic<double> limit{limit_at_start()};
  std::mutex mutex;
  Schedule schedule = schedule_at_start();
};

Settings& settings() {
  static Settings settings;
  return settings;
}

}  // namespace

Schedule parse_schedule(const std::string& text) {
  if (text == "forward") return {ScheduleOrder::forward, 0};
  if (text == "reverse") return {ScheduleOrder::reverse, 0};
  require<ValueError>(text.starts_with("random:"),
                      "simt schedule \"{}\": expected forward, reverse or random:SEED", text);
  return {ScheduleOrder::random, parse_number(text.substr(7), "simt schedule seed")};
}

void set_schedule(Schedule schedule) {
  const std::lock_guard lock(settings().mutex);
  settings().schedule = schedule;
}

Schedule schedule() {
  const std::lock_guard lock(settings().mutex);
  return settings().schedule;
}

void set_workers(unsigned count) {
  require<ValueError>(count >= 1 && count <= 1024, "simt workers: {} is not between 1 and 1024", count);
  settings().workers = count;
}

unsigned workers() { return settings().workers; }

void set_patience(uint64_t polls) { settings().patience = polls; }

void set_limit(double seconds) {
  require<ValueError>(seconds >= 0, "simt limit: {} seconds", seconds);
  settings().limit = seconds;
}

double limit() { return settings().limit; }

uint64_t patience() { return settings().patience; }

}  // namespace treadle::TREADLE_TARGET
