/// What the program writes to its standard streams: a JSON object, errors, and whether all output arrived.
#pragma once

#include <string>

#include "cli/json.h"

namespace treadle::cli {

/// Prints the object on a line of its own.
void print_json(const Json& object);

/// Writes a line to stderr: an error's sentence. One that cannot be written is no further error.
void print_error(const std::string& line);

/// Standard streams that the caller has closed are opened again, so that no file of ours gets their numbers;
/// what is written to them fails. Call it first.
void occupy_standard_streams();

/// Ends the output of a command: flushes it. Returns `code`, or kFailed with a message on stderr when
/// something could not be written and `code` was success.
int finish_output(int code);

}  // namespace treadle::cli
