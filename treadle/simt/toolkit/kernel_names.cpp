// Kernels that a launch knows by a pointer only: their names are the program's symbols.
#include <elf.h>
#include <link.h>

#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "treadle/simt/function_names.h"
#include "treadle/simt/launch_syntax.h"

namespace treadle::TREADLE_TARGET {
namespace {

/// The first object that is listed is the program.
int note_load_address(dl_phdr_info* info, size_t, void* address) {
  *static_cast<uintptr_t*>(address) = info->dlpi_addr;
  return 1;
}

/// The symbol of the function at an address; empty: there is none.
std::string symbol_at(uintptr_t address) {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::vector<char> image((std::istreambuf_iterator<char>(file)), {});
  if (image.size() < sizeof(ElfW(Ehdr))) return "";
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image.data());
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(image.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(image.data() + sections[i].sh_offset);
    const char* names = image.data() + sections[sections[i].sh_link].sh_offset;
    for (size_t k = 0; k < sections[i].sh_size / sizeof(ElfW(Sym)); ++k)
      if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC && symbols[k].st_value == address)
        return names + symbols[k].st_name;
  }
  return "";
}

}  // namespace

const char* name_of_kernel(const void* kernel, const char* otherwise) {
  static std::mutex mutex;
  static auto* names = new std::map<const void*, std::string>;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = names->try_emplace(kernel);
  if (is_new) {
    uintptr_t load_address = 0;
    dl_iterate_phdr(note_load_address, &load_address);
    const std::string symbol = symbol_at(reinterpret_cast<uintptr_t>(kernel) - load_address);
    if (!symbol.empty()) entry->second = simt::without_parameters(simt::demangled(symbol.c_str()));
  }
  return entry->second.empty() ? otherwise : entry->second.c_str();
}

}  // namespace treadle::TREADLE_TARGET
