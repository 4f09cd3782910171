/// The oneDNN plugin, opened at run time on first use: its table of functions, or why there is none.
#pragma once

#include <initializer_list>
#include <string>

#include "treadle/core/export.h"
#include "treadle/core/signal_stack.h"
#include "treadle/core/tensor_view.h"
#include "treadle/engines/onednn/plugin/api.h"

namespace treadle {

/// Why libtreadle-onednn.so cannot be used, naming the places that were searched; empty when it can.
TREADLE_API std::string onednn_absence();
/// oneDNN's own version; empty when the plugin is absent.
TREADLE_API std::string onednn_version();

namespace onednn {

/// The plugin's functions, valid until the process ends; null when it is absent. See open_plugin.
const TreadleOnednnApi* api();

/// A dtype that `takes` allows, for the plugin.
constexpr int32_t plugin_dtype(DType dtype) {
  return dtype == DType::bf16 ? TREADLE_ONEDNN_BF16 : TREADLE_ONEDNN_F32;
}

/// A view for the plugin.
TreadleOnednnTensor describe(const TensorView& view);

/// Whether oneDNN can describe the view: along each axis, an element lies beyond all that the axes with
/// smaller strides reach. So do not the rows of a slice with steps, which may lie between one another's
/// elements, nor expanded axes.
bool nests(const TensorView& view);

/// Whether the plugin is there and takes these operands: of one dtype, f32 or, where the processor multiplies
/// it, bf16; no extent of 0.
bool takes(std::initializer_list<const TensorView*> operands);

/// Throws Error with the plugin's message unless `status` is TREADLE_ONEDNN_OK.
void require_success(int status, const char* op, const char* message);

/// oneDNN's products of transposed matrices use the stack pointer for their buffer: the frame of a signal's
/// handler would be written before it, into somebody's memory. So threads that call oneDNN have a stack for
/// handlers, and handlers say SA_ONSTACK: the program's and Python's do.
inline void prepare_for_signals() { static thread_local const SignalStack of_thread; }

/// Calls function(message, size), one of the plugin's, and throws Error with its message when it fails.
template <class Function>
void call_plugin(const char* op, Function function) {
  prepare_for_signals();
  char message[256] = "";
  const int status = function(message, sizeof message);
  require_success(status, op, message);
}

}  // namespace onednn
}  // namespace treadle
