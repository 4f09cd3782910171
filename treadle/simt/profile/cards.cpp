#include "treadle/simt/profile/cards.h"

#include <algorithm>
#include <cctype>

#include "treadle/core/error.h"

namespace treadle::simt {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

// SMs, clocks, memory bandwidth, sizes of L2 and tensor rates: NVIDIA's whitepapers "Tesla V100 GPU
// Architecture" (2017), "Turing GPU Architecture" (2018), "A100 Tensor Core GPU Architecture" (2020), "Ampere
// GA102 GPU Architecture" (2021), "H100 Tensor Core GPU Architecture" (2022), "Ada GPU Architecture" (2023),
// and the data sheets of H200, L4, L40S and T4. Rates of an SM: CUDA C++ Programming Guide, "Arithmetic
// Instructions", throughput of native instructions; half types by pairs. Room of an SM: the same, "Technical
// Specifications per Compute Capability". Bytes of L2 in a clock: the whitepapers of V100 (64 bytes for each
// of 32 slices) and A100 (5120); of T4, measured, Jia et al., "Dissecting the NVIDIA Turing T4 GPU via
// Microbenchmarking" (2019), 1,270 GB/s. NVIDIA says nothing of the others: H100 and H200 are taken for
// A100's, the cards with GDDR6 for 32 bytes from each SM.
const std::vector<Card>& cards() {
  static const std::vector<Card> cards{
      {"H100", 90, 132, 1.98, 3350, 50, 5120, 128, 64, 256, 16, 989, 2048, 32, 228 * 1024, 1024},
      {"H200", 90, 132, 1.98, 4800, 50, 5120, 128, 64, 256, 16, 989, 2048, 32, 228 * 1024, 1024},
      {"A100", 80, 108, 1.41, 2039, 40, 5120, 64, 32, 256, 16, 312, 2048, 32, 164 * 1024, 1024},
      {"V100", 70, 80, 1.53, 900, 6, 2048, 64, 32, 128, 16, 125, 2048, 32, 96 * 1024, 0},
      {"T4", 75, 40, 1.59, 320, 4, 800, 64, 2, 128, 16, 65, 1024, 16, 64 * 1024, 0},
      {"L4", 89, 58, 2.04, 300, 48, 58 * 32, 128, 2, 128, 16, 121, 1536, 24, 100 * 1024, 1024},
      {"L40S", 89, 142, 2.52, 864, 96, 142 * 32, 128, 2, 128, 16, 362, 1536, 24, 100 * 1024, 1024},
      {"RTX4090", 89, 128, 2.52, 1008, 72, 128 * 32, 128, 2, 128, 16, 165, 1536, 24, 100 * 1024, 1024},
      {"RTX3090", 86, 82, 1.695, 936, 6, 82 * 32, 128, 2, 128, 16, 71, 1536, 16, 100 * 1024, 1024},
  };
  return cards;
}

std::string names_of_cards() {
  std::string names;
  for (const Card& card : cards()) names += (names.empty() ? "" : ", ") + card.name;
  return names;
}

const Card& card_named(const std::string& name) {
  std::string plain = lower(name);
  std::erase_if(plain, [](char c) { return c == ' ' || c == '-' || c == '_'; });
  for (const Card& card : cards())
    if (lower(card.name) == plain) return card;
  throw ValueError(fmt::format("there is no card '{}'; known are {}", name, names_of_cards()));
}

}  // namespace treadle::simt
