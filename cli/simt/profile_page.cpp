#include "cli/simt/profile_page.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/format.h"
#include "cli/simt/profile_style.h"

namespace treadle::cli {
namespace {

using simt::AccessCounters;
using simt::MemorySpace;

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

std::string number_or_nothing(uint64_t value) { return value == 0 ? "" : with_commas(int64_t(value)); }

/// Of a warp, but for what rounding may take away.
constexpr double kAllLanes = 31.999;

/// Lines of the source before and behind those that were counted.
constexpr unsigned kAround = 2;

/// A cell with a number and a bar of its share of the column's sum.
std::string cell(const std::string& text, double share, bool wasteful = false) {
  if (text.empty()) return "<td></td>";
  return fmt::format("<td{}><span style=\"--share:{:.0f}%\">{}</span></td>",
                     wasteful ? " class=\"waste\"" : "", 100 * share, text);
}

double share_of(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : double(part) / double(whole); }

/// "512", and "4.0×" where it is more than the ideal.
std::string times_ideal(uint64_t value, uint64_t ideal) {
  if (value == 0) return "";
  if (value <= ideal || ideal == 0) return number_or_nothing(value);
  return fmt::format("{} <b>{:.3g}×</b>", number_or_nothing(value), double(value) / double(ideal));
}

std::string counter_cells(const simt::LineCounters& line, const simt::LineCounters& total) {
  const AccessCounters global = line.all_of(MemorySpace::global), shared = line.all_of(MemorySpace::shared),
                       all_global = total.all_of(MemorySpace::global),
                       all_shared = total.all_of(MemorySpace::shared);
  const uint64_t operations = line.operations() + line.tensor_operations,
                 all_operations = total.operations() + total.tensor_operations;
  const double lanes = line.active_lanes();
  return cell(number_or_nothing(global.requests + shared.requests),
              share_of(global.requests + shared.requests, all_global.requests + all_shared.requests)) +
         cell(times_ideal(global.sectors, global.ideal_sectors), share_of(global.sectors, all_global.sectors),
              global.sectors > global.ideal_sectors) +
         cell(times_ideal(shared.wavefronts, shared.ideal_wavefronts),
              share_of(shared.wavefronts, all_shared.wavefronts),
              shared.wavefronts > shared.ideal_wavefronts) +
         cell(number_or_nothing(line.atomics()), share_of(line.atomics(), total.atomics())) +
         cell(number_or_nothing(operations), share_of(operations, all_operations)) +
         cell(number_or_nothing(line.barriers), share_of(line.barriers, total.barriers)) +
         (lanes == 0 ? "<td></td>"
                     : cell(fmt::format("{:.3g}", lanes), lanes < kAllLanes ? 1 - lanes / 32 : 0,
                            lanes < kAllLanes));
}

std::string heading_row() {
  const std::pair<const char*, const char*> columns[] = {
      {"requests", "loads, stores and atomics of a warp"},
      {"sectors", "of 32 bytes, of global memory; × the fewest that hold as many different bytes"},
      {"wavefronts", "passes over the banks of shared memory; × the fewest for so many lanes"},
      {"atomics", "requests that are atomic"},
      {"flops", "floating-point operations"},
      {"barriers", "by warps"},
      {"lanes", "of 32, how many took part on average"}};
  std::string row = "<tr>";
  for (const auto& [name, meaning] : columns) row += fmt::format("<th title=\"{}\">{}</th>", meaning, name);
  return row + "<th>line</th><th class=\"source\">source</th></tr>\n";
}

/// The counted lines of one file, from `first` to `last`, and those around and between them.
std::string file_table(const simt::KernelProfile& kernel, size_t first, size_t last, SourceLines& sources) {
  const std::string& file = kernel.lines[first].file;
  const unsigned begin = kernel.lines[first].line > kAround ? kernel.lines[first].line - kAround : 1,
                 end = std::min(kernel.lines[last - 1].line + kAround,
                                std::max(sources.count(file), kernel.lines[last - 1].line));
  std::string text = fmt::format("<h3>{}</h3>\n<div class=\"wide\"><table class=\"lines\">\n{}",
                                 escaped(file), heading_row());
  for (unsigned number = begin; number <= end; ++number) {
    while (first < last && kernel.lines[first].line < number) ++first;
    const bool counted = first < last && kernel.lines[first].line == number;
    text += fmt::format(
        "<tr{}>{}<td class=\"number\">{}</td><td class=\"source\"><code>{}</code></td></tr>\n",
        counted ? "" : " class=\"other\"",
        counted ? counter_cells(kernel.lines[first].counters, kernel.total) : "<td colspan=\"7\"></td>",
        number, escaped(sources.line(file, number)));
  }
  return text +
         fmt::format(
             "<tr class=\"sum\">{}<td></td><td class=\"source\">the kernel</td></tr>\n</table></div>\n",
             counter_cells(kernel.total, simt::LineCounters()));
}

std::string tile(const char* name, const std::string& value, const std::string& detail = "") {
  return fmt::format("<div class=\"tile\"><span>{}</span><strong>{}</strong><small>{}</small></div>\n", name,
                     value, escaped(detail));
}

std::string ratio_text(uint64_t value, uint64_t ideal) {
  return ideal == 0 ? "none" : fmt::format("{:.3g}×", double(value) / double(ideal));
}

std::string tiles_of(const ProfileView& view, const simt::KernelProfile& kernel, const simt::Bound& bound) {
  const AccessCounters global = kernel.total.all_of(MemorySpace::global),
                       shared = kernel.total.all_of(MemorySpace::shared);
  const unsigned registers = view.registers_of(kernel);
  const std::string room = bound.occupancy.blocks == 0
                               ? "a block does not fit"
                               : fmt::format("{:.0f} %", 100 * bound.occupancy.share());
  return "<div class=\"tiles\">\n" +
         tile("bottleneck", bound.parts.empty() ? "none" : bound.parts[0].part,
              bound.parts.empty()
                  ? ""
                  : fmt::format("at least {} a launch on {}", short_time(bound.seconds()), view.card.name)) +
         tile("coalescing", ratio_text(global.sectors, global.ideal_sectors),
              fmt::format("{} sectors, ideal {}", with_commas(int64_t(global.sectors)),
                          with_commas(int64_t(global.ideal_sectors)))) +
         tile("bank conflicts", ratio_text(shared.wavefronts, shared.ideal_wavefronts),
              fmt::format("{} wavefronts, ideal {}", with_commas(int64_t(shared.wavefronts)),
                          with_commas(int64_t(shared.ideal_wavefronts)))) +
         tile("active lanes", kernel.total.active_lanes() == 0
                                  ? "unknown"
                                  : fmt::format("{:.3g} of 32", kernel.total.active_lanes())) +
         tile("intensity", fmt::format("{:.3g}", bound.intensity), "operations for each byte of memory") +
         tile("occupancy", room,
              fmt::format("{} of {} warps, limited by {}; {}", bound.occupancy.warps,
                          bound.occupancy.most_warps, bound.occupancy.limit,
                          registers > 0 ? fmt::format("{} registers", registers) : "registers unknown")) +
         "</div>\n";
}

/// How long each part of the card needs, the slowest first.
std::string bars_of(const simt::Bound& bound) {
  if (bound.parts.empty()) return "";
  std::string text = "<table class=\"bars\">\n";
  for (const simt::BoundOfPart& part : bound.parts)
    text += fmt::format("<tr><th>{}</th><td><span style=\"width:{:.1f}%\"></span></td><td>{}</td></tr>\n",
                        part.part,
                        100 * share_of(uint64_t(part.seconds * 1e15), uint64_t(bound.seconds() * 1e15)),
                        short_time(part.seconds));
  return text + "</table>\n";
}

/// A row for each kernel, which leads to it.
std::string contents(const ProfileView& view) {
  std::string text =
      "<div class=\"wide\"><table "
      "class=\"kernels\">\n<tr><th>kernel</th><th>launches</th><th>bottleneck</th><th>at least</th>"
      "<th>coalescing</th><th>bank conflicts</th><th>lanes</th></tr>\n";
  for (size_t number = 0; number < view.run.kernels.size(); ++number) {
    const simt::KernelProfile& kernel = view.run.kernels[number];
    const simt::Bound bound = view.bound_of(kernel);
    const AccessCounters global = kernel.total.all_of(MemorySpace::global),
                         shared = kernel.total.all_of(MemorySpace::shared);
    text += fmt::format(
        "<tr><td><a "
        "href=\"#k{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.3g}</td></"
        "tr>\n",
        number, escaped(kernel.launches.name), with_commas(int64_t(kernel.launches.launches)),
        bound.parts.empty() ? "none" : bound.parts[0].part, short_time(bound.seconds()),
        ratio_text(global.sectors, global.ideal_sectors),
        ratio_text(shared.wavefronts, shared.ideal_wavefronts), kernel.total.active_lanes());
  }
  return text + "</table></div>\n";
}

std::string kernel_section(const ProfileView& view, size_t number, SourceLines& sources) {
  const simt::KernelProfile& kernel = view.run.kernels[number];
  const simt::Bound bound = view.bound_of(kernel);
  std::string text = fmt::format("<section id=\"k{}\">\n<h2>{}</h2>\n<p>{}</p>\n", number,
                                 escaped(kernel.launches.name), launches_text(kernel.launches));
  text += tiles_of(view, kernel, bound) + bars_of(bound);
  for (size_t first = 0; first < kernel.lines.size();) {
    size_t last = first;
    while (last < kernel.lines.size() && kernel.lines[last].file == kernel.lines[first].file) ++last;
    text += file_table(kernel, first, last, sources);
    first = last;
  }
  return text + "</section>\n";
}

}  // namespace

std::string page_of(const ProfileView& view) {
  SourceLines sources;
  std::string body;
  if (view.run.kernels.size() > 1) body += contents(view);
  for (size_t number = 0; number < view.run.kernels.size(); ++number)
    body += kernel_section(view, number, sources);
  const simt::Card& card = view.card;
  const std::string name = escaped(view.program);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{} - "
      "counters</title>\n<style>\n{}</style>\n</head>\n<body>\n<h1>{}</h1>\n"
      "<p>{} launches, counted by <code>treadle simt profile</code> without a GPU. Times are the least that "
      "{} ({} SMs, {} GB/s) needs for "
      "what was counted; registers and waits make them longer.</p>\n{}</body>\n</html>\n",
      name, kProfileStyle, name, view.run.launches, card.name, card.processors, card.memory_gbs, body);
}

}  // namespace treadle::cli
