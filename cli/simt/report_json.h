/// What a checked run has found, for programs.
#pragma once

#include "cli/json.h"
#include "treadle/simt/check/report.h"

namespace treadle::cli {

/// A report's members as contracts name them: kind, message, kernel, file, line, …
Json json_of(const simt::Report& report);

/// The reports as SARIF 2.1.0, which editors and code hosts show beside the lines. Paths are as the compiler
/// was given them.
/// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
Json sarif_of(const simt::RunReport& run);

}  // namespace treadle::cli
