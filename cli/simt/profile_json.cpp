#include "cli/simt/profile_json.h"

namespace treadle::cli {
namespace {

using simt::AccessCounters;
using simt::AccessKind;
using simt::MemorySpace;

Json sides_of(const simt::Coordinates& c) { return std::vector<Json>{c[0], c[1], c[2]}; }

void add_access(Json& json, const std::string& name, const simt::LineCounters& line, MemorySpace space,
                AccessKind kind) {
  const AccessCounters& counters = line.of(space, kind);
  if (counters.requests == 0) return;
  Json one{{"requests", counters.requests}, {"lanes", counters.lanes}, {"bytes", counters.bytes}};
  if (space == MemorySpace::global) {
    one.add("sectors", counters.sectors);
    one.add("ideal_sectors", counters.ideal_sectors);
    one.add("new_sectors", counters.new_sectors);
  } else {
    one.add("wavefronts", counters.wavefronts);
    one.add("ideal_wavefronts", counters.ideal_wavefronts);
  }
  if (kind == AccessKind::atomic) one.add("rounds", counters.rounds);
  json.add(name, one);
}

/// The members of a line and of a kernel's total.
void add_counters(Json& json, const simt::LineCounters& counters) {
  const AccessCounters global = counters.all_of(MemorySpace::global),
                       shared = counters.all_of(MemorySpace::shared);
  const std::pair<const char*, uint64_t> members[] = {{"requests", global.requests + shared.requests},
                                                      {"sectors", global.sectors},
                                                      {"ideal_sectors", global.ideal_sectors},
                                                      {"wavefronts", shared.wavefronts},
                                                      {"ideal_wavefronts", shared.ideal_wavefronts},
                                                      {"bytes_asked", global.bytes},
                                                      {"bytes_moved", 32 * global.sectors},
                                                      {"shared_bytes", shared.bytes},
                                                      {"atomics", counters.atomics()},
                                                      {"flops", counters.operations()},
                                                      {"functions", counters.functions},
                                                      {"tensor_flops", counters.tensor_operations},
                                                      {"barriers", counters.barriers},
                                                      {"collectives", counters.collectives}};
  for (const auto& [name, value] : members) json.add(name, value);
  json.add("active_lanes", counters.active_lanes());
  const char* const kinds[] = {"loads", "stores", "atomics"};
  for (size_t kind = 0; kind < 3; ++kind) {
    const auto k = static_cast<AccessKind>(kind);
    add_access(json, std::string("global_") + kinds[kind], counters, MemorySpace::global, k);
    add_access(json, std::string("shared_") + kinds[kind], counters, MemorySpace::shared, k);
  }
  const auto arithmetic = [](const simt::Arithmetic& a) {
    return Json{
        {"additions", a.additions}, {"products", a.products}, {"fused", a.fused}, {"divisions", a.divisions}};
  };
  if (counters.single.operations() > 0) json.add("single", arithmetic(counters.single));
  if (counters.twice.operations() > 0) json.add("double", arithmetic(counters.twice));
}

Json bound_json(const ProfileView& view, const simt::KernelProfile& kernel) {
  const simt::Bound bound = view.bound_of(kernel);
  std::vector<Json> parts;
  for (const simt::BoundOfPart& part : bound.parts)
    parts.push_back(Json{{"part", part.part}, {"seconds", part.seconds}});
  const simt::Occupancy& occupancy = bound.occupancy;
  return {{"seconds", bound.seconds()},
          {"bottleneck", bound.parts.empty() ? "" : bound.parts[0].part},
          {"parts", parts},
          {"intensity", bound.intensity},
          {"balance", bound.balance},
          {"occupancy", Json{{"blocks", occupancy.blocks},
                             {"warps", occupancy.warps},
                             {"most_warps", occupancy.most_warps},
                             {"limit", occupancy.limit}}}};
}

Json kernel_json(const ProfileView& view, const simt::KernelProfile& kernel) {
  std::vector<Json> lines;
  for (const simt::Line& line : kernel.lines) {
    Json one{{"file", line.file}, {"line", line.line}};
    add_counters(one, line.counters);
    lines.push_back(one);
  }
  const simt::KernelCounters& launches = kernel.launches;
  Json total{{"read_sectors", launches.read_sectors}, {"written_sectors", launches.written_sectors}};
  add_counters(total, kernel.total);
  const unsigned registers = view.registers_of(kernel);
  return {{"kernel", launches.name},
          {"block", sides_of(launches.block)},
          {"grid", sides_of(launches.grid)},
          {"launches", launches.launches},
          {"blocks", launches.blocks},
          {"warps", launches.warps},
          {"dynamic_shared_bytes", launches.dynamic_shared_bytes},
          {"static_shared_bytes", launches.static_shared_bytes},
          {"registers", registers > 0 ? Json(registers) : Json()},
          {"bound", bound_json(view, kernel)},
          {"total", total},
          {"lines", lines}};
}

}  // namespace

Json json_of(const ProfileView& view) {
  std::vector<Json> kernels;
  for (const simt::KernelProfile& kernel : view.run.kernels) kernels.push_back(kernel_json(view, kernel));
  return {{"program", view.program},
          {"card", view.card.name},
          {"exit_code", view.run.end.code},
          {"complete", view.run.complete},
          {"launches", view.run.launches},
          {"seconds", view.run.seconds},
          {"kernels", kernels}};
}

}  // namespace treadle::cli
