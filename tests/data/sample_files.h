/// Builds IDX and gzip bytes for the tests of data/.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treadle {

/// An IDX header of unsigned bytes.
inline std::string idx_header(const std::vector<uint32_t>& extents) {
  std::string bytes{'\0', '\0', '\x08', char(extents.size())};
  for (uint32_t extent : extents)
    for (int shift : {24, 16, 8, 0}) bytes += char(extent >> shift);
  return bytes;
}

/// An IDX array whose value i is i modulo `modulus`.
inline std::string idx_bytes(const std::vector<uint32_t>& extents, int modulus = 256) {
  size_t count = 1;
  for (uint32_t extent : extents) count *= extent;
  std::string bytes = idx_header(extents);
  for (size_t i = 0; i < count; ++i) bytes += char(i % size_t(modulus));
  return bytes;
}

inline std::string gzip(std::string_view bytes) {
  z_stream state{};
  deflateInit2(&state, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&state, bytes.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = uInt(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = uInt(packed.size());
  deflate(&state, Z_FINISH);
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

}  // namespace treadle
