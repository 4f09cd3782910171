// libtreadle-cuda.so's side of the boundary: its one exported function, and the functions that the rest of
// the plugin calls by Treadle's names and that only the host can answer.
#include "treadle/graph/device_plugin.h"

namespace treadle {
namespace {

PluginHost host{};

}  // namespace

void add_variant(Registry& registry, const char* op, const Variant& variant) {
  host.add_variant(registry, op, variant);
}

void add_engine(Registry& registry, Engine engine, EngineAbsence absence) {
  host.add_engine(registry, engine, absence);
}

void register_device(DeviceKind kind, DeviceProvider provider) {
  host.register_device(kind, std::move(provider));
}

namespace cuda {

/// Generated from the folders: device, kernels, libraries.
void register_everything(Registry& registry);

namespace {

void enter(const PluginHost& new_host) {
  host = new_host;
  register_everything(*host.registry);
}

constexpr DevicePlugin kTable{enter};

}  // namespace
}  // namespace cuda
}  // namespace treadle

extern "C" TREADLE_API const void* treadle_cuda_api(int version) {
  return version == treadle::device_plugin_version() ? &treadle::cuda::kTable : nullptr;
}
