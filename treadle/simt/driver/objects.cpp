#include "treadle/simt/driver/objects.h"

#include <elf.h>

#include <cstring>

#include "treadle/core/error.h"
#include "treadle/simt/driver/process.h"

namespace treadle::simt::driver {
namespace {

/// Checked reads of what lies in a file.
class ObjectFile {
 public:
  explicit ObjectFile(const std::string& path) : path_(path), bytes_(read_file(path)) {
    header_ = read<Elf64_Ehdr>(0);
    check(std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 && header_.e_ident[EI_CLASS] == ELFCLASS64);
  }

  size_t sections() const { return header_.e_shnum; }
  Elf64_Shdr section(size_t i) const { return read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)); }

  template <class T>
  T read(size_t offset) const {
    check(offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset);
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::string text(size_t offset) const {
    check(offset < bytes_.size());
    return bytes_.c_str() + offset;
  }

 private:
  void check(bool right) const { require<FormatError>(right, "{} is no object file of this machine", path_); }

  std::string path_, bytes_;
  Elf64_Ehdr header_{};
};

}  // namespace

void read_thread_locals(const std::string& object, ThreadLocals& names) {
  const ObjectFile file(object);
  for (size_t s = 0; s < file.sections(); ++s) {
    const Elf64_Shdr section = file.section(s);
    if (section.sh_type != SHT_SYMTAB) continue;
    const size_t strings = file.section(section.sh_link).sh_offset;
    for (size_t offset = 0; offset + sizeof(Elf64_Sym) <= section.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = file.read<Elf64_Sym>(section.sh_offset + offset);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS) continue;
      (symbol.st_shndx == SHN_UNDEF ? names.undefined : names.defined)
          .insert(file.text(strings + symbol.st_name));
    }
  }
}

}  // namespace treadle::simt::driver
