/// Which variant of an op serves a call.
#pragma once  // public

#include <span>
#include <string>
#include <vector>

#include "treadle/graph/settings.h"
#include "treadle/graph/variant.h"

namespace treadle {

struct Op;

/// By preference, the highest first.
TREADLE_API std::span<const Variant> variants_of(const Op& op);

/// The variant the user named, else the preferred one that applies. Throws ValueError for an unknown name or
/// one that does not apply, DeviceError when the device has none that takes the call.
TREADLE_API const Variant& select_variant(const Op& op, const Call& call, DeviceKind device);

/// Whether the settings allow a variant: its engine, and that it is deterministic where that is asked for.
TREADLE_API bool is_allowed(const Variant& variant, const Settings& settings);

/// The variant of that name for a device. Throws ValueError listing the known ones.
TREADLE_API const Variant& variant_named(const Op& op, DeviceKind device, const std::string& name);

/// All variants that apply to a call, most preferred first, whatever the settings.
TREADLE_API std::vector<const Variant*> applicable_variants(const Op& op, const Call& call,
                                                            DeviceKind device);

}  // namespace treadle
