#include "treadle/models/char_gpt.h"

#include <cmath>

#include "treadle/core/error.h"
#include "treadle/models/model_options.h"
#include "treadle/models/model_registry.h"
#include "treadle/nn/init.h"
#include "treadle/nn/sequential.h"
#include "treadle/ops/layout/views.h"
#include "treadle/ops/pointwise/pointwise.h"

namespace treadle {
namespace {

/// The letters, signs and spaces of a plain English text are about so many.
const ModelTask kText{{64}, 65};
constexpr int64_t kMostLayers = 32, kMostFeatures = 1024, kMostBlock = 4096;
constexpr double kDeviation = 0.02;  ///< of the first weights, as in GPT-2's code

int64_t block_of(const ModelTask& task) {
  require<ShapeError>(task.input.rank() == 1 && task.input[0] >= 1 && task.input[0] <= kMostBlock,
                      "char_gpt: examples have shape {}, expected [T], 1 to {} characters of a text",
                      task.input, kMostBlock);
  return task.input[0];
}

const CharGptOptions& checked(const CharGptOptions& o) {
  const auto within = [](const char* name, int64_t value, int64_t most) {
    require<ValueError>(value >= 1 && value <= most, "char_gpt: {}={} is not within 1 to {}", name, value,
                        most);
  };
  within("layers", o.layers, kMostLayers);
  within("features", o.features, kMostFeatures);
  within("heads", o.heads, o.features);
  require<ValueError>(o.features % o.heads == 0, "char_gpt: features={} do not divide into heads={}",
                      o.features, o.heads);
  require<ValueError>(o.dropout >= 0 && o.dropout < 1, "char_gpt: dropout={} is not within [0, 1)",
                      o.dropout);
  return o;
}

std::shared_ptr<Module> decoder(const CharGptOptions& o, Generator& generator) {
  const TransformerEncoderLayerOptions options{
      .feedforward = 4 * o.features, .dropout = o.dropout, .gelu = true, .norm_first = true, .causal = true};
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> layers;
  for (int64_t i = 0; i < o.layers; ++i)
    layers.emplace_back(std::to_string(i),
                        std::make_shared<TransformerEncoderLayer>(o.features, o.heads, options, generator));
  return std::make_shared<Sequential>(std::move(layers));
}

}  // namespace

CharGpt::CharGpt(Generator& generator) : CharGpt(kText, generator) {}

CharGpt::CharGpt(const ModelTask& task, Generator& generator)
    : CharGpt(task, options_in<CharGptOptions>(task.options), generator) {}

CharGpt::CharGpt(const ModelTask& task, const CharGptOptions& options, Generator& generator)
    : position(register_parameter("position", Tensor::empty({block_of(task), checked(options).features}))),
      character_(register_module("character", std::make_shared<Embedding>(task.classes, options.features,
                                                                          EmbeddingOptions{}, generator))),
      dropout_(register_module("dropout", std::make_shared<Dropout>(options.dropout))),
      layers_(register_module("layers", decoder(options, generator))),
      norm_(register_module("norm", std::make_shared<LayerNorm>(options.features))),
      head_(register_module("head",
                            std::make_shared<Linear>(options.features, task.classes, true, generator))) {
  initialize(options, generator);
}

void CharGpt::initialize(const CharGptOptions& options, Generator& generator) {
  const double of_sums = kDeviation / std::sqrt(2 * double(options.layers));
  for (const auto& [name, parameter] : named_parameters()) {
    const bool is_added = name.ends_with("out_proj.weight") || name.ends_with("linear2.weight");
    if (parameter.rank() > 1)
      init_normal(parameter, 0, is_added ? of_sums : kDeviation, generator);
    else if (name.ends_with("bias"))
      init_constant(parameter, 0);
  }
}

Tensor CharGpt::forward(const Tensor& x) {
  require<ShapeError>(x.rank() == 2 && x.size(1) <= position.size(0),
                      "char_gpt: the input has shape {}, expected [N, T] with at most {} characters",
                      x.shape(), position.size(0));
  const Tensor places = slice(position, 0, 0, x.size(1));
  return (*head_)((*norm_)((*layers_)((*dropout_)((*character_)(x) + places))));
}

namespace models {

void register_char_gpt(ModelRegistry& registry) {
  registry.add<CharGpt>({.place = 11,
                         .name = "char_gpt",
                         .description = "a GPT of characters: learns from a text and writes on",
                         .input = kText.input,
                         .classes = kText.classes,
                         .task = "language",
                         .input_dtype = DType::i64,
                         .options = &schema_of<CharGptOptions>(),
                         .presets = {{"text",
                                      {{"optimizer", "muon"},
                                       {"learning_rate", "0.004"},
                                       {"schedule", "cosine"},
                                       {"warm_up_steps", "100"},
                                       {"weight_decay", "0.1"},
                                       {"decay_matrices_only", "true"},
                                       {"clip_norm", "1"},
                                       {"epochs", "6"},
                                       {"batch_size", "16"},
                                       {"test", "last"}}}}});
}

}  // namespace models
}  // namespace treadle
