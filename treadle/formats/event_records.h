/// Records of TensorBoard's event files: scalars, images, histograms and hyperparameters.
#pragma once  // public

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "treadle/core/export.h"
#include "treadle/formats/image.h"

namespace treadle {

using HyperParameter = std::variant<double, bool, std::string>;

/// Gathers records in memory, in the order of the calls; whoever has them appends take() to a file whose name
/// holds "tfevents". Framing: length, its checksum, an Event message, its checksum; the checksums are masked
/// CRC-32C (tensorflow/core/lib/io/record_writer.h; event.proto and summary.proto beside it).
class TREADLE_API EventRecords {
 public:
  /// The record that every file begins with.
  void begin_file();
  /// Readers drop what earlier files of the folder say of this step and later ones.
  void restart(int64_t step);
  void scalar(int64_t step, std::string_view tag, double value);
  void image(int64_t step, std::string_view tag, const Image& image);
  /// In 64 buckets of equal width. Values that are not finite are left out.
  void histogram(int64_t step, std::string_view tag, std::span<const double> values);
  /// What the run was started with.
  void hyper_parameters(const std::map<std::string, HyperParameter>& values);

  /// The bytes since the last call.
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  std::string bytes_;
};

/// CRC-32C (Castagnoli) of bytes.
TREADLE_API uint32_t crc32c(std::string_view bytes);

}  // namespace treadle
