#include "treadle/graph/recording.h"

#include <utility>

namespace treadle {
namespace {

thread_local Recording* current_recording = nullptr;

}  // namespace

Recording* recording() { return current_recording; }

namespace detail {
Recording* exchange_recording(Recording* current) { return std::exchange(current_recording, current); }
}  // namespace detail

}  // namespace treadle
