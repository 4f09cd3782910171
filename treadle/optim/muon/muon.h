/// Muon: momentum, made orthogonal, for matrices.
#pragma once  // public

#include "treadle/optim/rule.h"

namespace treadle {

/// PyTorch's meaning of each.
struct MuonOptions {
  double momentum = 0.95, weight_decay = 0.1, epsilon = 1e-7;
  int64_t iterations = 5;
  bool nesterov = true;
  std::string scale = "match_rms_adamw";

  template <class Field>
  static void describe(Field& field) {
    field("momentum", &MuonOptions::momentum, "share of the mean of gradients that stays");
    field("weight_decay", &MuonOptions::weight_decay, "share of the parameter in each step");
    field("epsilon", &MuonOptions::epsilon, "least norm that a direction is divided by");
    field("iterations", &MuonOptions::iterations, "of Newton and Schulz, for each step");
    field("nesterov", &MuonOptions::nesterov, "look ahead by one step");
    field("scale", &MuonOptions::scale,
          "factor of the rate for a matrix [A, B]: original: √max(1, A/B); match_rms_adamw: 0.2·√max(A, B); "
          "spectral_unclamped: √(A/B)");
  }
};

/// For groups of parameters of two axes or more; the first is A, the others together are B. m ← momentum·m +
/// (1 − momentum)·g; d = nesterov ? (1 − momentum)·g + momentum·m : m; p ← p·(1 − lr·weight_decay) −
/// lr·scale·orthogonal(d). Of d = U S Vᵀ orthogonal(d) is about U Vᵀ: X ← d / |d|, then `iterations` times X
/// ← 3.4445·X + (−4.775·XXᵀ + 2.0315·(XXᵀ)²)·X. Jordan, Muon: an Optimizer for Hidden Layers in Neural
/// Networks, 2024. The iterations run in the parameter's dtype, f32 where that is a half type. Throws
/// ValueError for numbers that are negative or not finite and a scale that is none.
TREADLE_API std::shared_ptr<const UpdateRule> update_by_muon(const MuonOptions& options = {});

/// Parameters of two axes or more by Muon, the others by AdamW with the same rate and, if `decay_vectors`,
/// the same weight decay. For embeddings and last layers, which Jordan leaves to AdamW, too, make groups by
/// hand.
TREADLE_API std::vector<ParameterGroup> muon_groups(const std::vector<NamedTensor>& parameters,
                                                    const MuonOptions& options = {},
                                                    bool decay_vectors = true);

}  // namespace treadle
