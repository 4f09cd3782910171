/// What the program writes to standard output: one JSON object, and whether all of it arrived.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace treadle::cli {

/// Prints the object on a line of its own. Bytes that are no UTF-8, as file names may hold, become U+FFFD.
void print_json(const nlohmann::json& object);

/// Standard streams that the caller has closed are opened again, so that no file of ours gets their numbers;
/// what is written to them fails. Call it first.
void occupy_standard_streams();

/// Ends the output of a command: flushes it. Returns `code`, or kFailed with a message on stderr when
/// something could not be written and `code` was success.
int finish_output(int code);

}  // namespace treadle::cli
