/// ReplayResults: the memory of a program's results and of the gradients that it leaves, in one instance.
#pragma once

#include <span>
#include <vector>

#include "treadle/compile/program.h"

namespace treadle {

/// Results that nobody else holds are written again by the next replay, so that it allocates nothing; others
/// stay what they are and get new memory. A leaf whose gradient is replaced holds the last one until then.
class ReplayResults {
 public:
  explicit ReplayResults(const Program& program);

  /// Before a replay: memory for each output buffer.
  void prepare();
  size_t buffers() const { return storages_.size(); }
  size_t bytes(int buffer) const { return bytes_[size_t(buffer)]; }
  const IntrusivePtr<Storage>& storage(int buffer) const { return storages_[size_t(buffer)]; }
  /// After it: hands out the results, one for each output, and the gradients to their leaves.
  void give(std::span<const Tensor> arguments, std::span<Tensor> results);

 private:
  /// A result as it was given last, and its memory; a program that reads a gradient and replaces it has two.
  struct Spare {
    Tensor tensor;
    IntrusivePtr<Storage> storage;
  };

  void take_spares();
  void count_owners();
  void renew_storages();
  template <class Visit>
  void each(Visit visit);
  int output_of(int value) const;
  bool is_ours(const Tensor& tensor, int value, const Storage* storage, int holders) const;
  Tensor given(const ProgramOutput& output, Tensor& made, std::span<const Tensor> arguments) const;

  const Program& program_;
  std::vector<IntrusivePtr<Storage>> storages_;  ///< by output buffer, as are the next two
  std::vector<size_t> bytes_;
  std::vector<int> owners_;  ///< of the storage, as far as we know them; then whether it is written again
  std::vector<Tensor> results_, gradients_;
  std::vector<char> is_ours_;  ///< results, then gradients: whether nobody else holds what was given
  std::vector<Spare> spares_;  ///< by gradient
};

}  // namespace treadle
