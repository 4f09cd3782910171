#include "treadle/graph/device_plugin.h"

#include "treadle/core/plugin.h"

namespace treadle {
namespace {

void register_absence(DeviceKind kind, const std::string& reason) {
  register_device(kind, {.count = [] { return 0; }, .why_absent = [reason] { return reason; }});
}

}  // namespace

void open_device_plugins(Registry& registry) {
  const PluginHost host{&registry, add_variant, add_engine, register_device};
  for (const DeviceName& device : kDeviceNames) {
    if (is_registered(device.kind)) continue;
    const Plugin& plugin = open_plugin(std::string(device.name), device_plugin_version());
    if (plugin.table)
      static_cast<const DevicePlugin*>(plugin.table)->enter(host);
    else
      register_absence(device.kind, plugin.absence);
  }
}

}  // namespace treadle
