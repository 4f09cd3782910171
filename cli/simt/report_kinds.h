/// The kinds of reports, in words.
#pragma once

#include <string>
#include <vector>

#include "treadle/simt/check/report.h"

namespace treadle::cli {

struct ReportKind {
  std::string name, description;
};

const std::vector<ReportKind>& report_kinds();

/// What the second place of a report is: "the other access".
std::string other_place_text(const simt::Report& report);

}  // namespace treadle::cli
