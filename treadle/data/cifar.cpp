#include "treadle/data/cifar.h"

#include <cstring>

#include "treadle/core/error.h"
#include "treadle/data/read_bytes.h"

namespace treadle {

CifarRecords parse_cifar10(std::span<const std::byte> bytes, std::string_view name) {
  require<FormatError>(
      !bytes.empty() && bytes.size() % kCifarRecord == 0,
      "{}: {} bytes are no whole number of CIFAR-10 records of {} bytes; the file is cut short or of another "
      "format",
      name, bytes.size(), kCifarRecord);
  size_t count = bytes.size() / kCifarRecord;
  CifarRecords records{std::vector<uint8_t>(count), std::vector<uint8_t>(count * kCifarPixels)};
  for (size_t i = 0; i < count; ++i) {
    const std::byte* record = bytes.data() + i * kCifarRecord;
    records.labels[i] = uint8_t(record[0]);
    require<FormatError>(records.labels[i] < 10, "{}: record {} has label {}, labels are 0 to 9", name, i,
                         records.labels[i]);
    std::memcpy(&records.pixels[i * kCifarPixels], record + 1, kCifarPixels);
  }
  return records;
}

CifarRecords load_cifar10(const std::filesystem::path& path) {
  return parse_cifar10(read_bytes(path), path.string());
}

}  // namespace treadle
