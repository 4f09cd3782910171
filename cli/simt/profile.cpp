#include <fmt/core.h>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/simt/build_options.h"
#include "cli/simt/profile_json.h"
#include "cli/simt/profile_text.h"
#include "cli/simt/run_options.h"
#include "cli/standard_output.h"
#include "treadle/formats/file.h"
#include "treadle/simt/driver/profile.h"

namespace treadle::cli {
namespace {

using simt::driver::ProfiledRun;

struct SimtProfile : ProgramBuild, ProgramRun {
  std::string json_file;
  bool json = false;

  static void describe(auto& field) {
    using O = SimtProfile;
    ProgramBuild::describe(field);
    ProgramRun::describe(field);
    field("json_file", &O::json_file, "Write the counters to a file in JSON");
    field("json", &O::json, "One JSON object on the last line");
  }
};

std::string ending(const ProfiledRun& run) {
  if (run.end.out_of_time) return kOutOfTime;
  if (!run.complete) return fmt::format("the program ended with {} and left no counters", run.end.code);
  return run.end.code == 0 ? "" : fmt::format("the program ended with {}", run.end.code);
}

int run(const SimtProfile& chosen, const IsGiven& is_given) {
  const std::stop_token stop = stop_on_signals();
  const simt::driver::TemporaryFolder folder;
  const std::string program = chosen.built(folder, BuildFor::profile);
  const ProfiledRun profiled = run_profiled(chosen.process(program, is_given("--seed"), stop));
  if (stop.stop_requested()) return kInterrupted;
  const Json json = json_of(profiled, chosen.sources[0]);
  if (!chosen.json_file.empty()) replace_text(chosen.json_file, json.text() + "\n");
  if (chosen.json)
    print_json(json);
  else
    fmt::print("{}", text_of(profiled));
  if (const std::string end = ending(profiled); !end.empty()) print_error(fmt::format("treadle: {}", end));
  return profiled.complete && profiled.end.code == 0 ? kSuccess : kFailed;
}

}  // namespace

void register_simt_profile(Commands& commands) {
  commands.add(
      {.place = 4,
       .name = "simt profile",
       .description = "Build a program of CUDA sources, run it, and count per line what its kernels do: "
                      "memory requests and how they coalesce, bank conflicts, operations, divergence",
       .example = "treadle simt profile transpose.cu -- 1024"},
      run);
}

}  // namespace treadle::cli
