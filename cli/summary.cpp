#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.h"
#include "cli/format.h"
#include "cli/program_summary.h"
#include "cli/settings_options.h"
#include "cli/standard_output.h"
#include "treadle/data/batches.h"
#include "treadle/graph/op.h"
#include "treadle/models/model.h"
#include "treadle/nn/summary.h"
#include "treadle/train/load_model.h"

namespace treadle::cli {
namespace {

struct Options : RunSettings {
  std::string source;
  int64_t batch_size = 1;
  bool program = false, json = false;
  std::string optimizer = "sgd";

  static void describe(auto& field) {
    using O = Options;
    field("source", &O::source, "A model's name or a checkpoint file",
          {.on_command_line = "MODEL|CHECKPOINT", .required = true});
    field("batch_size", &O::batch_size, "Images, or windows of a text, in the batch",
          {.check = whole_number(1)});
    field("program", &O::program,
          "The compiled inference and training steps: ops, variants, fusions, bytes, the arena");
    field("optimizer", &O::optimizer, "Of the training step of --program",
          {.check = one_of(known_optimizers()), .needs = {"--program"}});
    RunSettings::describe(field);
    field("json", &O::json, "One JSON object");
  }
};

std::vector<int64_t> list_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

/// The extents of one tensor; of several, a list for each.
Json list_of(const std::vector<Shape>& shapes) {
  if (shapes.size() == 1) return list_of(shapes[0]);
  std::vector<Json> lists;
  for (const Shape& shape : shapes) lists.push_back(list_of(shape));
  return lists;
}

std::string text_of(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + to_string(shape);
  return text;
}

void print_summary(const Options& options, const ModelSummary& summary) {
  std::vector<Json> layers;
  for (const LayerSummary& layer : summary.layers)
    layers.push_back({{"name", layer.name},
                      {"layer", layer.description},
                      {"depth", layer.depth},
                      {"input", list_of(layer.inputs)},
                      {"output", list_of(layer.outputs)},
                      {"parameters", layer.parameters},
                      {"multiply_adds", layer.multiply_adds}});
  Json result = {{"model", options.source},
                 {"layers", layers},
                 {"parameters", summary.parameters},
                 {"multiply_adds", summary.multiply_adds},
                 {"input_bytes", summary.input_bytes},
                 {"activation_bytes", summary.activation_bytes},
                 {"parameter_bytes", summary.parameter_bytes}};
  print_json(result);
}

void print_table(const ModelSummary& summary) {
  std::vector<std::vector<std::string>> rows{{"layer", "input", "output", "parameters", "multiply-adds"}};
  for (const LayerSummary& layer : summary.layers) {
    std::string indent(size_t(2 * layer.depth), ' ');
    std::string name = layer.name.empty() ? layer.description : layer.name + ": " + layer.description;
    rows.push_back({indent + name, text_of(layer.inputs), text_of(layer.outputs),
                    layer.parameters ? with_commas(layer.parameters) : "-",
                    layer.multiply_adds ? with_commas(layer.multiply_adds) : "-"});
  }
  fmt::print("{}", table(rows, {3, 4}));
  fmt::print("\nparameters     {:>14}\nmultiply-adds  {:>14}\n", with_commas(summary.parameters),
             with_commas(summary.multiply_adds));
  fmt::print("input {}, activations {}, parameters {}\n", byte_size(double(summary.input_bytes)),
             byte_size(double(summary.activation_bytes)), byte_size(double(summary.parameter_bytes)));
}

Json operands(const Program& program, const std::vector<int>& values) {
  std::vector<Json> list;
  for (int value : values) {
    if (value == kNoValue) continue;
    const TensorSpec& spec = program.values[size_t(value)].spec;
    list.push_back({{"dtype", name_of(spec.dtype)}, {"shape", list_of(spec.shape)}});
  }
  return list;
}

Json json_of(const ProgramReport& report) {
  const Program& program = *report.program;
  std::vector<Json> steps;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const ProgramStep& step = program.steps[i];
    steps.push_back({{"op", step.op->name},
                     {"variant", step.variant->name},
                     {"pieces", program.pieces_of(i)},
                     {"inputs", operands(program, step.inputs)},
                     {"outputs", operands(program, step.outputs)}});
  }
  return {{"signature", report.signature},
          {"recorded_ops", program.statistics.recorded_ops},
          {"fusions", program.fusions},
          {"steps", steps},
          {"arena_bytes", program.statistics.arena_bytes},
          {"memory_bytes", report.memory_bytes}};
}

/// A known model and what it is made for.
struct ModelChoice {
  std::string name;
  ModelTask task;
};

ModelSummary summary_of(const ModelChoice& model, int64_t batch) {
  const Tensor x = Tensor::zeros(batch_shape(batch, model.task.input), model_info(model.name).input_dtype);
  return summarize(*make_model(model.name, model.task), {&x, 1});
}

void print_programs(const Options& options, const ModelChoice& model, Device device) {
  ProgramSource source =
      program_source(model.name, model.task, options.optimizer, options.batch_size, device);
  auto [inference, training] = make_programs(source);
  if (options.json)
    return print_json(Json{{"model", options.source},
                           {"device", to_string(device)},
                           {"batch_size", options.batch_size},
                           {"optimizer", options.optimizer},
                           {"inference", json_of(inference)},
                           {"training", json_of(training)}});
  for (auto* report : {&inference, &training})
    fmt::print("{}: {}\n{}in all {} of memory beside the parameters\n\n",
               report == &inference ? "inference" : "training with " + options.optimizer, report->signature,
               report->program->to_string(), byte_size(double(report->memory_bytes)));
}

/// A model by its name, or the one in a checkpoint: what exists as a file, or is written like one.
ModelChoice model_of(const std::string& source) {
  const auto& known = known_models();
  const bool is_name =
      std::any_of(known.begin(), known.end(), [&](const ModelInfo& model) { return model.name == source; });
  bool is_path = source.find_first_of("./") != std::string::npos || std::filesystem::exists(source);
  if (is_path && !is_name) {
    const Checkpoint checkpoint = load_model(source).checkpoint;
    return {checkpoint.model, task_of(checkpoint)};
  }
  const ModelInfo& info = model_info(source);
  return {info.name, {info.input, info.classes}};
}

int run(const Options& options) {
  Device device = apply_run_settings(options);
  const ModelChoice model = model_of(options.source);
  if (options.program) return print_programs(options, model, device), kSuccess;
  const ModelSummary summary = summary_of(model, options.batch_size);
  if (options.json)
    print_summary(options, summary);
  else
    print_table(summary);
  return kSuccess;
}

}  // namespace

void register_summary(Commands& commands) {
  commands.add({.place = 4,
                .name = "summary",
                .description = "Layers of a model with shapes, parameters and multiply-adds",
                .example = "treadle summary fashion_cnn"},
               run);
}

}  // namespace treadle::cli
