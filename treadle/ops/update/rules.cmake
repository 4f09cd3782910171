# Writes, for each rule of optimizers (optim/NAME) that steps from element to element, its variants on the cpu and its kernels. Families have templates of both; here
# they meet the rule, which names no device.
set(generated ${CMAKE_BINARY_DIR}/generated/treadle/ops/update)
rules_in(rules ${PROJECT_SOURCE_DIR}/treadle)
foreach(rule ${rules})
  file(READ ${PROJECT_SOURCE_DIR}/treadle/optim/${rule}/${rule}.h text)
  if(NOT text MATCHES "RuleForms<")  # no step of single elements
    continue()
  endif()
  file(CONFIGURE OUTPUT ${generated}/rule_${rule}_cpu.cpp CONTENT [[// Generated: the rule of treadle/optim/@rule@ on the cpu.
#define TREADLE_RULE_ALONE
#include "treadle/ops/matrix/cpu/linear_update.h"
#include "treadle/ops/update/cpu/loop.h"
#include "treadle/optim/@rule@/@rule@.h"

namespace treadle::ops {
namespace {

template <class... Forms>
void register_forms(Registry& registry, RuleForms<Forms...>) {
  (register_update_loop<Forms>(registry), ...);
  (register_linear_update_variants<Forms>(registry), ...);
}

}  // namespace

void register_rule_@rule@_cpu(Registry& registry) { register_forms(registry, rules::@rule@::Forms()); }

}  // namespace treadle::ops
]] @ONLY)
  list(APPEND generated_sources ${generated}/rule_${rule}_cpu.cpp)
  list(APPEND generated_variants rule_${rule}_cpu)
  file(CONFIGURE OUTPUT ${generated}/rule_${rule}.cu CONTENT [[// Generated: the rule of treadle/optim/@rule@ on devices.
#define TREADLE_RULE_ALONE
#include "treadle/ops/matrix/cuda/linear_update.cuh"
#include "treadle/ops/update/cuda/optimizer_update.cuh"
#include "treadle/optim/@rule@/@rule@.h"

namespace treadle::TREADLE_TARGET {
namespace {

template <class... Forms>
void register_forms(Registry& registry, RuleForms<Forms...>) {
  (register_update_kernels<Forms>(registry), ...);
  (register_linear_update_kernels<Forms>(registry), ...);
}

}  // namespace

void register_rule_@rule@(Registry& registry) { register_forms(registry, rules::@rule@::Forms()); }

}  // namespace treadle::TREADLE_TARGET
]] @ONLY)
  list(APPEND generated_kernels rule_${rule})
  set_property(GLOBAL APPEND PROPERTY TREADLE_GENERATED_KERNELS ${generated}/rule_${rule}.cu)
  set_property(GLOBAL APPEND PROPERTY TREADLE_GENERATED_KERNEL_GROUPS ${generated}/rule_${rule}.cu)
endforeach()
