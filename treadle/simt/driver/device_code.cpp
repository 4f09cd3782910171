#include "treadle/simt/driver/device_code.h"

namespace treadle::simt::driver {

void DeviceCode::see(const Source& source, size_t i) {
  const std::string_view token = source[i];
  if (source.is(i, TokenKind::identifier)) {
    if (inside() || !token.starts_with("__")) return;
    if (token == "__global__" || token == "__device__") {
      device_ = true;
      declared_in_ = parentheses_;
    }
    host_ |= token == "__host__";
  } else if (!source.is(i, TokenKind::punctuation)) {
    return;
  } else if (token == "(") {
    ++parentheses_;
  } else if (token == ")") {
    --parentheses_;
  } else if (token == "{") {
    const bool begins_body = device_ && !inside() && parentheses_ == declared_in_;
    if (begins_body) {
      body_ = braces_;
      for_host_ = host_;
    }
    if (begins_body || !device_) end_declaration();
    ++braces_;
  } else if (token == "}") {
    if (--braces_ == body_) body_ = kOutside;
    if (!device_) end_declaration();
  } else if (token == ";" && parentheses_ <= declared_in_) {
    end_declaration();
  }
}

}  // namespace treadle::simt::driver
