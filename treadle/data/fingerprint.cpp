#include "treadle/data/fingerprint.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "treadle/core/parallel_for.h"
#include "treadle/data/batches.h"

namespace treadle {
namespace {

constexpr int64_t kBlock = int64_t(1) << 20;  ///< bytes that one thread hashes at a time

uint64_t hash_block(const uint8_t* bytes, int64_t count) {
  uint64_t hash = uint64_t(count);
  for (int64_t i = 0; i < count; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, size_t(std::min<int64_t>(8, count - i)));
    hash = SplitMix64::mix(hash ^ word);
  }
  return hash;
}

/// The blocks are cut by size alone, so the hash is the same for any number of threads.
uint64_t hash_of(std::span<const uint8_t> bytes) {
  const int64_t size = int64_t(bytes.size()), blocks = (size + kBlock - 1) / kBlock;
  std::vector<uint64_t> hashes(static_cast<size_t>(blocks));
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      hashes[size_t(i)] = hash_block(bytes.data() + i * kBlock, std::min(kBlock, size - i * kBlock));
  });
  uint64_t hash = uint64_t(size);
  for (uint64_t block : hashes) hash = SplitMix64::mix(hash ^ block);
  return hash;
}

template <class T>
std::span<const uint8_t> bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const uint8_t*>(numbers.data()), numbers.size() * sizeof(T)};
}

/// Labels take a byte each where that is enough, as in runs of versions that knew no more classes.
uint64_t hash_of_labels(const ImageDataset& part) {
  if (part.classes.size() > 256) return hash_of(bytes_of(part.labels));
  return hash_of(std::vector<uint8_t>(part.labels.begin(), part.labels.end()));
}

uint64_t hash_of_examples(const ImageDataset& part) {
  return hash_of(part.has_values() ? bytes_of(part.values) : bytes_of(part.pixels));
}

}  // namespace

std::string fingerprint(const DatasetSplits& splits) {
  uint64_t hash = 0;
  for (const ImageDataset* part : {&splits.train, &splits.test})
    for (uint64_t part_hash : {hash_of_labels(*part), hash_of_examples(*part)})
      hash = SplitMix64::mix(hash ^ part_hash);
  return fmt::format("{} training and {} test images of {} in {} classes, hash {:016x}", splits.train.size(),
                     splits.test.size(), splits.train.image_shape, splits.train.classes.size(), hash);
}

std::string fingerprint(const TextDataset& text) {
  uint64_t hash = 0;
  for (const std::string& character : text.vocabulary.characters())
    hash = SplitMix64::mix(
        hash ^ hash_block(reinterpret_cast<const uint8_t*>(character.data()), int64_t(character.size())));
  for (const auto* part : {&text.train, &text.test}) hash = SplitMix64::mix(hash ^ hash_of(bytes_of(*part)));
  return fmt::format("{} training and {} test characters of {} kinds, hash {:016x}", text.train.size(),
                     text.test.size(), text.vocabulary.size(), hash);
}

}  // namespace treadle
