// A plugin of two names, for plugin_test.cpp.
#define TREADLE_EXPORTED extern "C" __attribute__((visibility("default")))

namespace {
constexpr int kTable = 42, kVersion = 7;
}

TREADLE_EXPORTED const void* treadle_for_test_api(int version) {
  return version == kVersion ? &kTable : nullptr;
}
TREADLE_EXPORTED const void* treadle_twice_api(int version) {
  return version == kVersion ? &kTable : nullptr;
}
