/// A CUDA plugin at its boundary with the library: what it exports, refuses and registers. For the real one
/// this is as much as can be seen without a GPU.
///
/// usage: treadle_cuda_plugin_test PLUGIN
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "treadle/graph/device_plugin.h"

namespace treadle {
namespace {

using Entry = const void* (*)(int version);

const char* file = nullptr;

/// Resolved at once and with no help of this program, which exports nothing.
Entry entry() {
  static void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return reinterpret_cast<Entry>(dlsym(library, "treadle_cuda_api"));
}

/// A host that notes what it is told.
struct Told {
  std::vector<std::pair<std::string, Variant>> variants;
  std::set<Engine> engines;
  std::vector<std::pair<DeviceKind, DeviceProvider>> devices;
} told;

const Told& told_by_the_plugin() {
  static const bool once = [] {
    PluginHost host{};
    host.registry = &detail::mutable_registry();
    host.add_variant = [](Registry&, const char* op, const Variant& v) { told.variants.emplace_back(op, v); };
    host.add_engine = [](Registry&, Engine engine, EngineAbsence) { told.engines.insert(engine); };
    host.register_device = [](DeviceKind kind, DeviceProvider p) { told.devices.emplace_back(kind, p); };
    static_cast<const DevicePlugin*>(entry()(device_plugin_version()))->enter(host);
    return true;
  }();
  static_cast<void>(once);
  return told;
}

/// All of a variant but its device and its code.
using Facts = std::tuple<std::string, std::string, int, bool, double, bool>;
Facts facts(const std::string& op, const Variant& v) {
  return {op, v.name, v.preference, v.deterministic, v.error_growth, v.skips_zeros};
}

TEST(CudaPlugin, TakesNoOtherVersion) {
  ASSERT_NE(entry(), nullptr);
  EXPECT_NE(entry()(device_plugin_version()), nullptr);
  EXPECT_EQ(entry()(device_plugin_version() + 1), nullptr);
}

std::string difference(const std::set<Facts>& all, const std::set<Facts>& others) {
  std::string text;
  for (const Facts& one : all)
    if (!others.contains(one)) text += std::get<0>(one) + "=" + std::get<1>(one) + " ";
  return text;
}

/// One source, two compilers. The host itself has variants for every device that are made of others.
TEST(CudaPlugin, BringsTheKernelsThatTheExecutorHas) {
  std::set<Facts> on_simt, on_cuda;
  for (const Op* op : registry().ops())
    for (const Variant& variant : op->variants)
      if (variant.device != DeviceKind::cpu)
        (variant.device == DeviceKind::simt ? on_simt : on_cuda).insert(facts(op->name, variant));
  EXPECT_LT(on_cuda.size(), on_simt.size() / 2);  // no plugin has been there
  for (const auto& [op, variant] : told_by_the_plugin().variants) {
    EXPECT_EQ(variant.device, DeviceKind::cuda) << op << " " << variant.name;
    EXPECT_TRUE(registry().contains(op)) << op;
    if (variant.engine == Engine::own) on_cuda.insert(facts(op, variant));
  }
  EXPECT_EQ(difference(on_simt, on_cuda), "");
  EXPECT_EQ(difference(on_cuda, on_simt), "");
}

TEST(CudaPlugin, BringsTheLibrariesOfItsDevice) {
  std::set<Engine> wanted, with_variants;
  for (Engine engine : kAllEngines)
    if (device_of(engine) == DeviceKind::cuda) wanted.insert(engine);
  for (const auto& [op, variant] : told_by_the_plugin().variants)
    if (variant.engine != Engine::own) with_variants.insert(variant.engine);
  EXPECT_EQ(told.engines, wanted);
  EXPECT_EQ(with_variants, wanted);
}

TEST(CudaPlugin, BringsItsDeviceOrSaysWhyNot) {
  const auto& devices = told_by_the_plugin().devices;
  ASSERT_EQ(devices.size(), 1u);
  const auto& [kind, provider] = devices[0];
  EXPECT_EQ(kind, DeviceKind::cuda);
  EXPECT_EQ(provider.count() == 0, !provider.why_absent().empty()) << provider.why_absent();
}

/// Programs start without NVIDIA's libraries, so nothing may be linked with them.
TEST(CudaPlugin, NeedsNoLibraryOfCudas) {
  told_by_the_plugin();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    for (const char* library : {"/libcudart.so", "/libcublas", "/libcudnn"})
      EXPECT_EQ(line.find(library), std::string::npos) << line;
}

/// This program's own registry finds a plugin that it cannot open, and stays without one.
void hide_plugins() {
  const std::filesystem::path folder = testing::TempDir() + "treadle-no-plugin-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "libtreadle-cuda.so");
  setenv("TREADLE_PLUGINS", folder.c_str(), 1);
  registry();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace treadle

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  if (count != 2) {
    std::fprintf(stderr, "usage: %s PLUGIN\n", words[0]);
    return 2;
  }
  treadle::file = words[1];
  treadle::hide_plugins();
  return RUN_ALL_TESTS();
}
