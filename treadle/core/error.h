/// The exception types of the library and `require`, which throws them with a formatted sentence.
#pragma once  // public

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "treadle/core/device.h"
#include "treadle/core/export.h"
#include "treadle/core/shape.h"

/// Shapes and devices are written only when a message is: require() costs nothing while its condition holds.
template <class T>
struct TreadleTextFormatter {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const T& value, Context& context) const {
    std::string text = treadle::to_string(value);
    return std::copy(text.begin(), text.end(), context.out());
  }
};
template <>
struct fmt::formatter<treadle::Dims> : TreadleTextFormatter<treadle::Dims> {};
template <>
struct fmt::formatter<treadle::Device> : TreadleTextFormatter<treadle::Device> {};

namespace treadle {

/// Base of every exception the library throws.
struct TREADLE_API Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Shapes that do not fit together; the message names both sides.
struct TREADLE_API ShapeError : Error {
  using Error::Error;
};

/// A dtype that an op does not take.
struct TREADLE_API DTypeError : Error {
  using Error::Error;
};

/// A device that is absent or fails, or tensors on different devices.
struct TREADLE_API DeviceError : Error {
  using Error::Error;
};

/// A file whose contents break its format.
struct TREADLE_API FormatError : Error {
  using Error::Error;
};

/// A file or folder that cannot be opened, read or written.
struct TREADLE_API FileError : Error {
  using Error::Error;
};

/// A name or value that does not exist: an op, a model, an option.
struct TREADLE_API ValueError : Error {
  using Error::Error;
};

/// A device that is not there: absent hardware, driver or library.
struct TREADLE_API DeviceAbsent : DeviceError {
  using DeviceError::DeviceError;
};

/// Misuse of automatic differentiation: freed graphs, modified saved tensors.
struct TREADLE_API AutogradError : Error {
  using Error::Error;
};

/// Training that cannot go on: a loss that is not a number.
struct TREADLE_API TrainingError : Error {
  using Error::Error;
};

/// A function that cannot be recorded as a program: it reads a value, or its numbers change between calls.
struct TREADLE_API RecordingError : Error {
  using Error::Error;
};

/// Throws E with the formatted message unless `condition` holds.
template <class E = Error, class... A>
void require(bool condition, fmt::format_string<A...> message, A&&... arguments) {
  if (!condition) [[unlikely]]
    throw E(fmt::format(message, std::forward<A>(arguments)...));
}

}  // namespace treadle
