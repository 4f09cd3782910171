/// Plugins that bring a device, with its variants and engines: the two tables that pass between such a plugin
/// and the library or program that opens it, its host.
///
/// A plugin needs no symbol of its host, which may be a program that Treadle is linked into, or a library
/// opened with dlopen: it is linked with copies of those of Treadle's functions that have no state, and asks
/// its host for the others by the table below. Plain C++ types cross the boundary, so both are built from the
/// same headers by the same compiler; device_plugin_version() sees to that.
#pragma once

#include "treadle/core/runtime.h"
#include "treadle/graph/registry.h"

namespace treadle {

/// What a plugin may ask of its host: the functions of these names.
struct PluginHost {
  Registry* registry;
  void (*add_variant)(Registry&, const char* op, const Variant&);
  void (*add_engine)(Registry&, Engine, EngineAbsence);
  void (*register_device)(DeviceKind, DeviceProvider);
};

/// What a plugin offers: see open_plugin.
struct DevicePlugin {
  /// Registers the plugin's devices, engines and variants with the host, which lives as long as the process.
  void (*enter)(const PluginHost& host);
};

/// Another one for each state of the headers and each compiler; generated when the library is built.
int device_plugin_version();

/// Opens the plugin of each kind of device that is not registered yet; it is called as the device is. Where
/// it cannot be used, the kind is registered as absent, with the reason.
void open_device_plugins(Registry& registry);

}  // namespace treadle
