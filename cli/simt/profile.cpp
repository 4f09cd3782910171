#include <fmt/core.h>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/simt/build_options.h"
#include "cli/simt/profile_json.h"
#include "cli/simt/profile_page.h"
#include "cli/simt/profile_text.h"
#include "cli/simt/run_options.h"
#include "cli/standard_output.h"
#include "treadle/formats/file.h"
#include "treadle/simt/driver/profile.h"

namespace treadle::cli {
namespace {

using simt::driver::ProfiledRun;

OptionCheck known_card() {
  return {.fault = [](std::string& text) -> std::string {
            try {
              text = simt::card_named(text).name;
              return "";
            } catch (const ValueError& error) {
              return error.what();
            }
          },
          .shown = {}};
}

OptionCheck number_or_nvcc() {
  return {.fault = [](std::string& text) -> std::string {
            const bool number =
                !text.empty() && text.size() < 4 && text.find_first_not_of("0123456789") == std::string::npos;
            return number || text == "nvcc" ? "" : text + " is neither a number of registers nor nvcc";
          },
          .shown = {}};
}

struct SimtProfile : ProgramBuild, ProgramRun {
  std::string json_file, html, card = "H100", registers;
  bool json = false;

  static void describe(auto& field) {
    using O = SimtProfile;
    ProgramBuild::describe(field);
    ProgramRun::describe(field);
    field("html", &O::html, "Write a page for a browser: the source with the counters beside each line");
    field("card", &O::card, "GPU that bounds are for: " + simt::names_of_cards(), {.check = known_card()});
    field("registers", &O::registers, "Registers of a thread, for the occupancy: a number, or nvcc to ask it",
          {.check = number_or_nvcc()});
    field("json_file", &O::json_file, "Write the counters to a file in JSON");
    field("json", &O::json, "One JSON object on the last line");
  }
};

/// What is known of registers.
simt::driver::Registers registers_for(const SimtProfile& chosen, const simt::Card& card) {
  if (chosen.registers.empty()) return {};
  if (chosen.registers == "nvcc") return registers_by_nvcc(chosen, card.architecture);
  return simt::driver::Registers(static_cast<unsigned>(std::stoul(chosen.registers)));
}

std::string ending(const ProfiledRun& run) {
  if (run.end.out_of_time) return kOutOfTime;
  if (!run.complete && run.end.code == 0) return "the program left no counters: build it with --profiled";
  if (!run.complete) return fmt::format("the program ended with {} and left no counters", run.end.code);
  return run.end.code == 0 ? "" : fmt::format("the program ended with {}", run.end.code);
}

void show(const SimtProfile& chosen, const ProfileView& view) {
  if (!chosen.html.empty()) replace_text(chosen.html, page_of(view));
  if (!chosen.json_file.empty()) replace_text(chosen.json_file, json_of(view).text() + "\n");
  if (chosen.json)
    print_json(json_of(view));
  else
    fmt::print("{}", text_of(view));
}

int run(const SimtProfile& chosen, const IsGiven& is_given) {
  const std::stop_token stop = stop_on_signals();
  const simt::Card& card = simt::card_named(chosen.card);
  const simt::driver::Registers registers = registers_for(chosen, card);
  const simt::driver::TemporaryFolder folder;
  const std::string program = chosen.built(folder, BuildFor::profile);
  const ProfiledRun profiled = run_profiled(chosen.process(program, is_given("--seed"), stop));
  if (stop.stop_requested()) return kInterrupted;
  show(chosen, {profiled, chosen.sources[0], card, registers});
  if (const std::string end = ending(profiled); !end.empty()) print_error(fmt::format("treadle: {}", end));
  return profiled.complete && profiled.end.code == 0 ? kSuccess : kFailed;
}

}  // namespace

void register_simt_profile(Commands& commands) {
  commands.add({.place = 4,
                .name = "simt profile",
                .description =
                    "Build a program of CUDA sources, run it, and count per line what its kernels do: memory "
                    "requests and how they coalesce, bank conflicts, operations, divergence",
                .example = "treadle simt profile transpose.cu --card A100 --html transpose.html -- 1024"},
               run);
}

}  // namespace treadle::cli
