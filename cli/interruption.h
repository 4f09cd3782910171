/// Stopping a long command by a signal so that it can save its state.
#pragma once

#include <stop_token>

namespace treadle::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP requests a stop; the second one ends the process as usual.
/// A SIGHUP that is ignored already, as under nohup, stays so. Output that nobody reads any more (SIGPIPE, as
/// after `| head`) requests a stop, too.
std::stop_token stop_on_signals();

}  // namespace treadle::cli
