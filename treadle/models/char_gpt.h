/// A small GPT of characters (Radford et al., Improving Language Understanding by Generative Pre-Training,
/// 2018; layer norm before the blocks as in Language Models are Unsupervised Multitask Learners, 2019).
#pragma once  // public

#include "treadle/models/model.h"
#include "treadle/nn/dropout.h"
#include "treadle/nn/embedding.h"
#include "treadle/nn/transformer.h"

namespace treadle {

struct CharGptOptions {
  int64_t layers = 4, heads = 4;
  int64_t features = 128;  ///< of a character; four times as many between the linear layers of a block
  double dropout = 0;      ///< of the embeddings, attention's weights, and what each block adds; in training

  static void describe(auto& field) {
    using O = CharGptOptions;
    field("layers", &O::layers, "blocks of attention and two linear layers, 1 to 32");
    field("heads", &O::heads, "of attention; they divide the features");
    field("features", &O::features, "of a character, up to 1024");
    field("dropout", &O::dropout, "share of features that training leaves out, below 1");
  }
};

/// Characters as numbers x [N, T] of i64, at most a block of them → for each place the logits [N, T, K] of
/// the character that follows, of K. What stands behind a place does not change its logits. Embeddings of
/// characters and places, pre-norm decoder layers with GELU, layer norm, a linear layer. For 64 characters
/// of 65 kinds with the usual options 818,241 parameters.
///
/// Weights begin normal with deviation 0.02, those of the last layers of a block's two parts smaller by
/// √(2·layers), biases at 0, as GPT-2's.
class TREADLE_API CharGpt final : public Module {
 public:
  explicit CharGpt(Generator& generator = default_generator());
  /// For task.input = [T], T up to 4096, and task.classes characters. Throws ShapeError for other inputs,
  /// ValueError for options out of range.
  explicit CharGpt(const ModelTask& task, Generator& generator = default_generator());
  std::string describe() const override { return "CharGpt"; }

  Tensor position;  ///< [T, features]

 protected:
  /// Throws ShapeError for other inputs than [N, T], at most a block.
  Tensor forward(const Tensor& x) override;

 private:
  CharGpt(const ModelTask& task, const CharGptOptions& options, Generator& generator);
  void initialize(const CharGptOptions& options, Generator& generator);

  std::shared_ptr<Embedding> character_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Module> layers_;
  std::shared_ptr<LayerNorm> norm_;
  std::shared_ptr<Linear> head_;
};

}  // namespace treadle
