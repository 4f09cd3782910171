/// What to say when a name is not known: the message suggests the known name that is meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// The known name that `name` was probably meant to be: it begins with it, or differs in few letters (left
/// out, added, changed, or two exchanged; upper and lower case count as equal, and so do '-' and '_'). The
/// first of the nearest; empty when none is near.
TREADLE_API std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// "; did you mean 'train'?", or "" when no known name is near.
TREADLE_API std::string suggestion(std::string_view name, const std::vector<std::string>& known);

/// "no model is called 'lenet'; did you mean 'lenet5'? Known are mlp, lenet5": the message of a ValueError.
/// `kind` begins it: "no model is called".
TREADLE_API std::string unknown_name(std::string_view kind, std::string_view name,
                                     const std::vector<std::string>& known);

/// "mlp, lenet5"
TREADLE_API std::string joined_names(const std::vector<std::string>& names);

}  // namespace treadle
