#include "treadle/simt/driver/red_zones.h"

#include <gtest/gtest.h>

namespace treadle::simt::driver {
namespace {

TEST(RedZonesTest, AZoneIsBeforeEachThreadLocalVariable) {
  const std::string text =
      "\t.section\t.tbss,\"awT\",@nobits\n\t.align 32\n\t.type\tx, @object\n\t.size\tx, 64\nx:\n\t.zero\t64\n"
      "\t.align 4\n\t.type\ty, @object\ny:\n\t.zero\t4\n";
  const std::string zoned =
      "\t.section\t.tbss,\"awT\",@nobits\n\t.align 32\n\t.type\tx, @object\n\t.zero 128\n\t.size\tx, "
      "64\nx:\n\t.zero\t64\n"
      "\t.align 4\n\t.type\ty, @object\n\t.zero 128\ny:\n\t.zero\t4\n";
  EXPECT_EQ(with_red_zones(text), zoned);
}

TEST(RedZonesTest, TemplatesAndInitialisedVariablesHaveZones) {
  for (const std::string section :
       {".tdata,\"awT\",@progbits", ".tbss._ZZ1kvE1x,\"awTG\",@nobits,_ZZ1kvE1x,comdat"})
    EXPECT_NE(with_red_zones("\t.section\t" + section + "\n\t.type\tx, @object\n").find(".zero 128"),
              std::string::npos);
}

TEST(RedZonesTest, AlignmentIsKept) {
  EXPECT_NE(with_red_zones(".section .tbss\n.align 256\n.type x, @object\n").find(".zero 256"),
            std::string::npos);
}

TEST(RedZonesTest, OtherVariablesAndFunctionsHaveNone) {
  for (const std::string text :
       {"\t.bss\n\t.type\tx, @object\n", "\t.section\t.tbss\n\t.text\n\t.type\tx, @object\n",
        "\t.section\t.tbss\n\t.type\tf, @function\n", "\t.section .rodata\n\t.type x, @object\n"})
    EXPECT_EQ(with_red_zones(text), text);
}

}  // namespace
}  // namespace treadle::simt::driver
