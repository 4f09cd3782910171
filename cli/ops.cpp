#include <fmt/core.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/standard_output.h"
#include "treadle/graph/registry.h"

namespace treadle::cli {
namespace {

std::string dtypes_of(const Op& op) {
  std::string text;
  for (DType dtype : kAllDTypes)
    if (op.dtypes.contains(dtype)) text += fmt::format("{}{}", text.empty() ? "" : " ", name_of(dtype));
  return text;
}

/// Variants of one device, most preferred first.
std::string variants_of(const Op& op, DeviceKind device) {
  std::string text;
  for (const Variant& variant : op.variants)
    if (variant.device == device) text += (text.empty() ? "" : " ") + std::string(variant.name);
  return text.empty() ? op.direct ? "view" : "-" : text;
}

Json describe(const Op& op) {
  std::vector<Json> variants, options;
  for (const Variant& variant : op.variants)
    variants.push_back({{"name", variant.name},
                        {"device", name_of(variant.device)},
                        {"engine", name_of(variant.engine)},
                        {"deterministic", variant.deterministic},
                        {"rung", variant.rung},
                        {"idea", variant.idea}});
  if (op.options)
    for (const OptionField& field : op.options->fields)
      options.push_back({{"name", field.name},
                         {"default", to_string(field.default_value)},
                         {"documentation", field.documentation}});
  return {{"name", op.name},         {"summary", op.summary},
          {"dtypes", dtypes_of(op)}, {"gradient", bool(op.gradient)},
          {"options", options},      {"variants", variants}};
}

/// The ladder of kernels, a rung after another. All devices that run them have the same, and a build may have
/// one of these: those of the first are shown.
void print_ladder(const Op& op) {
  std::vector<const Variant*> ladder;
  for (const Variant& variant : op.variants)
    if (variant.rung > 0 && (ladder.empty() || variant.device == ladder[0]->device))
      ladder.push_back(&variant);
  std::stable_sort(ladder.begin(), ladder.end(),
                   [](const Variant* a, const Variant* b) { return a->rung < b->rung; });
  if (!ladder.empty()) fmt::print("  ladder of kernels:\n");
  for (const Variant* variant : ladder)
    fmt::print("  {:>4}. {}: {}\n", variant->rung, variant->name, variant->idea);
}

int print_one(const Op& op) {
  fmt::print("{}: {}\n  dtypes: {}\n  gradient: {}\n", op.name, op.summary, dtypes_of(op),
             op.gradient ? "yes" : "no");
  if (op.options)
    for (const OptionField& field : op.options->fields)
      fmt::print("  option {} = {}: {}\n", field.name, to_string(field.default_value), field.documentation);
  for (const Variant& variant : op.variants)
    fmt::print("  variant {} on {} ({}{})\n", variant.name, name_of(variant.device), name_of(variant.engine),
               variant.deterministic ? "" : ", not deterministic");
  print_ladder(op);
  return kSuccess;
}

int print_ops(bool as_json, const std::string& name) {
  if (!name.empty()) op_named(name);  // throws for an unknown one
  if (!name.empty() && !as_json) return print_one(op_named(name));
  std::vector<std::vector<std::string>> rows{{"op", "gradient"}};
  for (const DeviceName& device : kDeviceNames) rows[0].emplace_back(device.name);
  rows[0].push_back("dtypes");
  std::vector<Json> list;
  for (const Op* op : registry().ops()) {
    if (!name.empty() && op->name != name) continue;
    list.push_back(describe(*op));
    rows.push_back({op->name, op->gradient ? "yes" : "-"});
    for (const DeviceName& device : kDeviceNames) rows.back().push_back(variants_of(*op, device.kind));
    rows.back().push_back(dtypes_of(*op));
  }
  if (as_json)
    print_json(Json{{"ops", list}});
  else
    fmt::print("{}{} ops; variants are listed most preferred first\n", table(rows), rows.size() - 1);
  return kSuccess;
}

/// The table of docs/generated/ops.md: the same for every build, so devices and libraries that this one lacks
/// do not matter.
int print_markdown() {
  fmt::print(
      "# Ops\n\nWritten by `scripts/generate-docs`. Variants are listed most preferred first; those of "
      "libraries are left out.\n\n");
  fmt::print(
      "| op | what it computes | gradient | cpu | simt and cuda | dtypes |\n|---|---|---|---|---|---|\n");
  for (const Op* op : registry().ops()) {
    std::string columns[2];
    for (const Variant& variant : op->variants) {
      if (variant.engine != Engine::own || variant.device == DeviceKind::cuda) continue;
      std::string& column = columns[variant.device == DeviceKind::simt];
      column += (column.empty() ? "" : ", ") + std::string(variant.name);
    }
    std::string summary = op->summary;
    for (size_t at = 0; (at = summary.find('|', at)) != std::string::npos; at += 2)
      summary.replace(at, 1, "\\|");
    fmt::print("| {} | {} | {} | {} | {} | {} |\n", op->name, summary, op->gradient ? "yes" : "",
               op->direct ? "view" : columns[0], op->direct ? "view" : columns[1], dtypes_of(*op));
  }
  return kSuccess;
}

struct Options {
  bool json = false, markdown = false;
  std::string name;

  static void describe(auto& field) {
    field("name", &Options::name, "Only this op, with its options", {.on_command_line = "OP"});
    field("json", &Options::json, "One JSON object");
    field("markdown", &Options::markdown, "The table of the docs", {.excludes = {"OP", "--json"}});
  }
};

int run(const Options& options) {
  return options.markdown ? print_markdown() : print_ops(options.json, options.name);
}

}  // namespace

void register_ops(Commands& commands) {
  commands.add({.place = 6,
                .name = "ops",
                .description = "Ops with their variants, devices and dtypes",
                .example = "treadle ops conv2d"},
               run);
}

}  // namespace treadle::cli
