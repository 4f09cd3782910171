#include "treadle/simt/check/runtime/shared_variables.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "treadle/simt/function_names.h"

namespace treadle::checker {
namespace {

struct Program {
  uintptr_t load_address = 0, begin = UINTPTR_MAX, end = 0, code_begin = 0, code_end = 0, variables_begin = 0,
            variables_end = 0;
  void* thread_storage = nullptr;  ///< the asking thread's
  size_t thread_bytes = 0;
};

/// The first object that is listed is the program.
int note_program(dl_phdr_info* info, size_t, void* result) {
  auto& program = *static_cast<Program*>(result);
  program.load_address = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type == PT_TLS) {
      program.thread_storage = info->dlpi_tls_data;
      program.thread_bytes = header.p_memsz;
    } else if (header.p_type == PT_LOAD) {
      program.begin = std::min(program.begin, info->dlpi_addr + header.p_vaddr);
      program.end = std::max(program.end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
      if ((header.p_flags & PF_X) != 0) {
        program.code_begin = info->dlpi_addr + header.p_vaddr;
        program.code_end = program.code_begin + header.p_memsz;
      }
      if ((header.p_flags & PF_W) != 0) {
        program.variables_begin = info->dlpi_addr + header.p_vaddr;
        program.variables_end = program.variables_begin + header.p_memsz;
      }
    }
  }
  return 1;
}

const Program& program() {
  static const Program program = [] {
    Program result;
    dl_iterate_phdr(note_program, &result);
    return result;
  }();
  return program;
}

uintptr_t thread_pointer() { return reinterpret_cast<uintptr_t>(__builtin_thread_pointer()); }

std::string readable(const char* symbol) {
  // "kernel<float>(float*)::tile": the variable is what stands behind the last "::".
  const std::string name = simt::demangled(symbol);
  const size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

bool is_built_in(const std::string& symbol) {
  return symbol.starts_with("_ZN7treadle7checked") && symbol.find("__shared") == std::string::npos;
}

bool is_of_guard(std::string_view symbol) { return symbol.starts_with("_ZGV"); }

}  // namespace

uintptr_t program_begin() { return program().load_address; }

size_t program_bytes() { return program().end - program().load_address; }

bool in_program(uintptr_t address) { return address >= program().begin && address < program().end; }

bool is_code(uintptr_t address) { return address >= program().code_begin && address < program().code_end; }

uintptr_t variables_begin() { return program().variables_begin; }
uintptr_t variables_end() { return program().variables_end; }

const SharedVariables& SharedVariables::of_program() {
  static const auto* variables = new SharedVariables;
  return *variables;
}

SharedVariables::SharedVariables() {
  bytes_ = program().thread_bytes;
  if (program().thread_storage == nullptr) return;
  // The distance is the same for all threads; the variables' own thread may have gone.
  const uintptr_t here = reinterpret_cast<uintptr_t>(program().thread_storage);
  from_thread_pointer_ = static_cast<ptrdiff_t>(here - thread_pointer());
  read_symbols();
}

uintptr_t SharedVariables::begin_here() const {
  return thread_pointer() + static_cast<uintptr_t>(from_thread_pointer_);
}

void SharedVariables::read_symbols() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::vector<char> image((std::istreambuf_iterator<char>(file)), {});
  if (image.size() < sizeof(ElfW(Ehdr))) return;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image.data());
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(image.data() + header->e_shoff);
  size_t built_ins_end = 0;
  built_ins_begin_ = SIZE_MAX;
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(image.data() + sections[i].sh_offset);
    const char* names = image.data() + sections[sections[i].sh_link].sh_offset;
    for (size_t k = 0; k < sections[i].sh_size / sizeof(ElfW(Sym)); ++k) {
      const ElfW(Sym)& symbol = symbols[k];
      if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = names + symbol.st_name;
      if (is_built_in(name)) {
        built_ins_begin_ = std::min<size_t>(built_ins_begin_, symbol.st_value);
        built_ins_end = std::max<size_t>(built_ins_end, symbol.st_value + symbol.st_size);
      } else if (is_of_guard(name)) {
        guards_.emplace_back(symbol.st_value, symbol.st_value + symbol.st_size);
      } else if (symbol.st_size > 0) {
        variables_.push_back({symbol.st_value, symbol.st_size, readable(name)});
      }
    }
  }
  built_ins_bytes_ = built_ins_end > built_ins_begin_ ? built_ins_end - built_ins_begin_ : 0;
  std::sort(guards_.begin(), guards_.end());
  std::sort(variables_.begin(), variables_.end(),
            [](const SharedVariable& a, const SharedVariable& b) { return a.offset < b.offset; });
}

bool SharedVariables::is_guard(size_t offset) const {
  const auto after = std::upper_bound(guards_.begin(), guards_.end(), offset,
                                      [](size_t place, const auto& guard) { return place < guard.first; });
  return after != guards_.begin() && offset < std::prev(after)->second;
}

const SharedVariable* SharedVariables::before(size_t offset) const {
  const auto after = std::upper_bound(variables_.begin(), variables_.end(), offset,
                                      [](size_t place, const SharedVariable& v) { return place < v.offset; });
  return after == variables_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace treadle::checker
