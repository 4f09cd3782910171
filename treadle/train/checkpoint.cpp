#include "treadle/train/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "treadle/core/error.h"
#include "treadle/core/version.h"
#include "treadle/formats/safetensors.h"

namespace treadle {
namespace {

using nlohmann::json;

constexpr const char* kFormatVersion = "1";
constexpr std::string_view kOptimizerPrefix = "treadle.optimizer.";
constexpr std::string_view kSamplerName = "treadle.sampler";

/// The names of two figures are those of images and their classes, which came first.
json to_json(const RunProgress& p) {
  return {{"run", p.run},         {"best_epoch", p.best_epoch}, {"best_accuracy", p.best_score},
          {"metrics", p.metrics}, {"images", p.examples},       {"loss_sum", p.loss_sum},
          {"seconds", p.seconds}, {"schedule", p.schedule}};
}

std::map<std::string, std::string> metadata_of(const Checkpoint& c) {
  json description = {{"model", c.model},
                      {"model_options", c.model_options},
                      {"classes", c.classes},
                      {"input", std::vector<int64_t>(c.input.begin(), c.input.end())},
                      {"mean", c.normalization.mean},  // not an op
                      {"deviation", c.normalization.deviation},
                      {"dataset", c.dataset},
                      {"seed", c.seed},
                      {"epoch", c.epoch},
                      {"step", c.step},
                      {"random", {c.random.seed(), c.random.offset()}},
                      {"training", c.training},
                      {"progress", to_json(c.progress)}};
  return {{"format", "pt"},  // what tools that read PyTorch's safetensors files look for
          {"treadle.format_version", kFormatVersion},
          {"treadle.version", version()},
          {"treadle.checkpoint", description.dump(-1, ' ', false, json::error_handler_t::replace)}};
}

void read_progress(const json& d, RunProgress& p) {
  p.run = d.at("run").get<std::string>();
  p.best_epoch = d.at("best_epoch").get<int64_t>();
  p.best_score = d.at("best_accuracy").get<double>();
  p.metrics = d.at("metrics").get<std::string>();
  p.examples = d.at("images").get<int64_t>();
  p.loss_sum = d.at("loss_sum").get<double>();
  p.seconds = d.at("seconds").get<double>();
  p.schedule = d.value("schedule", p.schedule);  // earlier files have none
}

/// Earlier files have no "progress": the run's name stood among the settings, and so did the best accuracy on
/// the test set.
void read_earlier_progress(Checkpoint& c) {
  auto run = c.training.find("run");
  if (run != c.training.end()) c.progress.run = run->second;
  c.chosen_on_test_set = c.training.count("best_accuracy") > 0;
}

void read_description(const json& d, Checkpoint& c) {
  c.model = d.at("model").get<std::string>();
  c.model_options = d.at("model_options").get<std::map<std::string, std::string>>();
  c.classes = d.at("classes").get<std::vector<std::string>>();
  auto input = d.at("input").get<std::vector<int64_t>>();
  require<FormatError>(input.size() < size_t(kMaxRank), "the input has {} extents, at most {} are read",
                       input.size(), kMaxRank - 1);
  for (int64_t extent : input) c.input.push_back(extent);
  c.normalization = {d.at("mean").get<std::vector<float>>(),  // not an op
                     d.at("deviation").get<std::vector<float>>()};
  c.dataset = d.at("dataset").get<std::string>();
  c.seed = d.at("seed").get<uint64_t>();
  c.epoch = d.at("epoch").get<int64_t>();
  c.step = d.at("step").get<int64_t>();
  if (d.contains("random")) c.random = Generator(d["random"].at(0), d["random"].at(1));
  c.training = d.at("training").get<std::map<std::string, std::string>>();
  if (d.contains("progress"))
    read_progress(d["progress"], c.progress);
  else
    read_earlier_progress(c);
}

void read_entries(const SafetensorsFile& file, Checkpoint& c) {
  for (auto& [name, tensor] : file.entries) {
    if (name.starts_with(kOptimizerPrefix)) {
      c.optimizer_state.push_back({name.substr(kOptimizerPrefix.size()), tensor});
    } else if (name == kSamplerName) {
      require<FormatError>(tensor.dtype() == DType::i64, "the sampler's state is {}, expected i64",
                           name_of(tensor.dtype()));
      auto state = tensor.to_vector<int64_t>();
      require<FormatError>(state.size() == 2, "the sampler's state has {} numbers, expected 2", state.size());
      c.sampler = {state[0], state[1]};
    } else {
      c.parameters.push_back({name, tensor});
    }
  }
}

void check_version(const std::filesystem::path& path, const std::map<std::string, std::string>& metadata) {
  auto found = metadata.find("treadle.format_version");
  require<FormatError>(found != metadata.end() && metadata.count("treadle.checkpoint"),
                       "{} is a safetensors file, but not a Treadle checkpoint", path.string());
  require<FormatError>(found->second == kFormatVersion,
                       "{} has checkpoint format version {}, this Treadle ({}) reads {}", path.string(),
                       found->second, version(), kFormatVersion);
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  std::vector<SafetensorsEntry> entries;
  for (auto& [name, tensor] : checkpoint.parameters) entries.push_back({name, tensor});
  for (auto& [name, tensor] : checkpoint.optimizer_state)
    entries.push_back({std::string(kOptimizerPrefix) + name, tensor});
  if (!checkpoint.optimizer_state.empty())
    entries.push_back(
        {std::string(kSamplerName),
         Tensor::from(std::vector<int64_t>{checkpoint.sampler.epoch, checkpoint.sampler.position}, {2})});
  save_safetensors(path, entries, metadata_of(checkpoint));
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  SafetensorsFile file = load_safetensors(path);
  check_version(path, file.metadata);
  Checkpoint checkpoint;
  try {
    read_description(json::parse(file.metadata["treadle.checkpoint"]), checkpoint);
    read_entries(file, checkpoint);
  } catch (const FormatError& error) {
    throw FormatError(fmt::format("{}: {}", path.string(), error.what()));
  } catch (const json::exception& error) {
    throw FormatError(
        fmt::format("{}: its treadle.checkpoint entry is damaged: {}", path.string(), error.what()));
  }
  return checkpoint;
}

std::string find_non_finite(const std::vector<NamedTensor>& tensors) {
  for (auto& [name, tensor] : tensors) {
    if (!is_floating(tensor.dtype())) continue;
    std::vector<double> values = tensor.to_doubles();
    auto found = std::find_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
    if (found != values.end())
      return fmt::format("{} is {} at element {}", name, *found, found - values.begin());
  }
  return "";
}

}  // namespace treadle
