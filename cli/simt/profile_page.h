/// What a profiled run has counted, as a page for a browser.
#pragma once

#include <string>

#include "cli/simt/profile_view.h"

namespace treadle::cli {

/// One HTML file that needs no other: for each kernel what it waits for, and its source with the counters
/// beside each line. It is light or dark as the reader's system is.
std::string page_of(const ProfileView& view);

}  // namespace treadle::cli
