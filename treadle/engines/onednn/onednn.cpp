#include "treadle/engines/onednn/onednn.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/graph/registry.h"

namespace treadle {
namespace onednn {
namespace {

constexpr const char* kFile = "libtreadle-onednn.so";

/// The folder of the file that holds this code: the library, or the program it was linked into.
std::filesystem::path folder_of_this_code() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&api), &info) || !info.dli_fname) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

std::filesystem::path folder_of_program() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure).parent_path();
}

std::vector<std::filesystem::path> candidates() {
  std::vector<std::filesystem::path> files;
  auto add = [&](const std::filesystem::path& folder) {
    if (std::find(files.begin(), files.end(), folder / kFile) == files.end()) files.push_back(folder / kFile);
  };
  if (const char* folder = std::getenv("TREADLE_PLUGINS"); folder && *folder) add(folder);
  for (const auto& folder : {folder_of_program(), folder_of_this_code()}) {
    if (!folder.is_absolute())
      continue;  // unknown, or how the program was called: not a place to load code from
    add(folder);
    add(folder.parent_path());
    add(folder / "treadle");
    add(folder.parent_path() / "lib" / "treadle");
  }
  return files;
}

struct Plugin {
  const TreadleOnednnApi* api = nullptr;
  std::string absence;
};

Plugin open_file(const std::filesystem::path& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return {nullptr, std::string(dlerror())};
  auto* table_of = reinterpret_cast<const TreadleOnednnApi* (*)(int)>(dlsym(library, "treadle_onednn_api"));
  const TreadleOnednnApi* table = table_of ? table_of(TREADLE_ONEDNN_ABI_VERSION) : nullptr;
  if (!table)
    return {nullptr, fmt::format("{} does not speak version {}", file.string(), TREADLE_ONEDNN_ABI_VERSION)};
  return {table, ""};
}

/// The first file that exists decides, so that a broken plugin is reported and not passed over.
Plugin open_plugin() {
  std::string searched;
  for (const auto& file : candidates()) {
    std::error_code failure;
    if (std::filesystem::exists(file, failure)) return open_file(file);
    searched.append(" ").append(file.parent_path().string());
  }
  return {nullptr, fmt::format("{} was not found in:{}", kFile, searched)};
}

const Plugin& plugin() {
  static const Plugin opened = open_plugin();
  return opened;
}

}  // namespace

const TreadleOnednnApi* api() { return plugin().api; }

namespace {

/// The view's strides; where an extent of 1 gives them no meaning, those of its layout, or more than any
/// other axis reaches.
Strides meaningful_strides(const TensorView& view) {
  if (view.contiguous()) return contiguous_strides(view.shape);
  if (view.channels_last()) return channels_last_strides(view.shape);
  Strides strides = view.strides;
  int64_t outermost = 1;
  for (int axis = 0; axis < view.shape.rank(); ++axis)
    if (view.shape[axis] > 1) outermost = std::max(outermost, view.shape[axis] * strides[axis]);
  for (int axis = 0; axis < view.shape.rank(); ++axis)
    if (view.shape[axis] == 1) strides[axis] = outermost;
  return strides;
}

}  // namespace

TreadleOnednnTensor describe(const TensorView& view) {
  TreadleOnednnTensor tensor{view.data, TREADLE_ONEDNN_F32, view.shape.rank(), {}, {}};
  const Strides strides = meaningful_strides(view);
  for (int axis = 0; axis < view.shape.rank(); ++axis)
    tensor.shape[axis] = view.shape[axis], tensor.strides[axis] = strides[axis];
  return tensor;
}

bool nests(const TensorView& view) {
  int axes[kMaxRank], count = 0;
  for (int axis = 0; axis < view.shape.rank(); ++axis) {  // insertion sort by stride
    if (view.shape[axis] <= 1) continue;
    int k = count++;
    for (; k > 0 && view.strides[axes[k - 1]] > view.strides[axis]; --k) axes[k] = axes[k - 1];
    axes[k] = axis;
  }
  int64_t least = 1;
  for (int k = 0; k < count; ++k) {
    if (view.strides[axes[k]] < least) return false;
    least = view.strides[axes[k]] * view.shape[axes[k]];
  }
  return true;
}

bool takes(std::initializer_list<const TensorView*> operands) {
  for (const TensorView* operand : operands)
    if (operand->dtype != DType::f32 || operand->numel() == 0 ||
        operand->shape.rank() > TREADLE_ONEDNN_MAX_RANK)
      return false;
  return api() != nullptr;
}

void require_success(int status, const char* op, const char* message) {
  require(status == TREADLE_ONEDNN_OK, "{}: oneDNN: {}", op, message);
}

}  // namespace onednn

std::string onednn_absence() { return onednn::plugin().absence; }

std::string onednn_version() { return onednn::api() ? onednn::api()->onednn_version() : ""; }

namespace onednn {

void register_onednn(Registry& registry) { registry.add_engine(Engine::onednn, onednn_absence); }

}  // namespace onednn
}  // namespace treadle
