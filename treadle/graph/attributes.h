/// Attributes: an op's options behind one type, shared and immutable. Light: device files include it.
#pragma once

#include <memory>
#include <typeinfo>
#include <utility>

#include "treadle/core/export.h"

namespace treadle {

class Attributes {
 public:
  Attributes() = default;

  template <class Options>
  static Attributes of(Options options) {
    Attributes attributes;
    attributes.data_ = std::make_shared<const Options>(std::move(options));
    attributes.type_ = &typeid(Options);
    return attributes;
  }

  /// The options; an op asks only for the type it was declared with.
  template <class Options>
  const Options& as() const {
    if (!holds(typeid(Options))) throw_wrong_type();
    return *static_cast<const Options*>(data_.get());
  }

  const void* data() const { return data_.get(); }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  /// A plugin has type descriptions of its own, of equal names.
  bool holds(const std::type_info& type) const { return type_ == &type || (type_ && *type_ == type); }
  [[noreturn]] TREADLE_API static void throw_wrong_type();

  std::shared_ptr<const void> data_;
  const std::type_info* type_ = nullptr;
};

}  // namespace treadle
