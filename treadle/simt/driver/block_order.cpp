#include "treadle/simt/driver/block_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace treadle::simt::driver {
namespace {

using Graph = std::vector<std::vector<size_t>>;

/// Orders the nodes of a graph by its strongly connected parts (R. Tarjan, "Depth-First Search and Linear
/// Graph Algorithms", 1972), and each of those, a loop, in the same way without the edges to where it is
/// entered.
class CodeOrder {
 public:
  explicit CodeOrder(const Graph& successors) : successors_(successors), state_(successors.size()) {}

  std::vector<size_t> run() {
    if (!successors_.empty()) order(0, 0, kNone);
    return std::move(result_);
  }

 private:
  static constexpr size_t kNone = size_t(-1);
  struct State {
    size_t region = 0;  ///< which of the nested loops it is a part of
    size_t number = 0, low = 0;
    bool seen = false, open = false;
  };

  /// Appends the nodes of a region that can be reached from `entry`, to which no edge leads within it.
  void order(size_t region, size_t entry, size_t header) {
    std::vector<std::vector<size_t>> parts;  // the last ones first
    visit(region, entry, header, parts);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      const size_t first = part->back();  // the one that was reached first
      if (part->size() == 1) {
        result_.push_back(first);
        continue;
      }
      const size_t inner = ++regions_;
      for (const size_t node : *part) state_[node] = {.region = inner};
      order(inner, first, first);
    }
  }

  void visit(size_t region, size_t node, size_t header, std::vector<std::vector<size_t>>& parts) {
    State& state = state_[node];
    state.seen = state.open = true;
    state.number = state.low = ++numbers_;
    open_.push_back(node);
    // The first successor is to come first: it is visited last.
    for (auto next = successors_[node].rbegin(); next != successors_[node].rend(); ++next) {
      State& other = state_[*next];
      if (other.region != region || *next == header) continue;
      if (!other.seen) {
        visit(region, *next, header, parts);
        state.low = std::min(state.low, other.low);
      } else if (other.open) {
        state.low = std::min(state.low, other.number);
      }
    }
    if (state.low != state.number) return;
    std::vector<size_t>& part = parts.emplace_back();
    do {
      part.push_back(open_.back());
      state_[open_.back()].open = false;
      open_.pop_back();
    } while (part.back() != node);
  }

  const Graph& successors_;
  std::vector<State> state_;
  std::vector<size_t> open_, result_;
  size_t regions_ = 0, numbers_ = 0;
};

constexpr std::string_view kSpace = " \t";
constexpr std::string_view kCounter = "__sanitizer_cov_trace_pc";

std::string_view trimmed(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(kSpace), line.size());
  return line.substr(begin, line.find_last_not_of(kSpace) + 1 - begin);
}

/// The local label that an instruction jumps to; empty where it jumps to none.
std::string_view jump_target(std::string_view mnemonic, std::string_view line) {
  const bool jumps = mnemonic.starts_with('j') || mnemonic == "b" || mnemonic.starts_with("b.") ||
                     mnemonic.starts_with("cb") || mnemonic.starts_with("tb");
  const size_t begin = line.find_last_of(" \t,") + 1;
  return jumps && line.substr(begin).starts_with(".L") ? line.substr(begin) : std::string_view();
}

bool never_goes_on(std::string_view mnemonic) {
  return mnemonic == "jmp" || mnemonic == "ret" || mnemonic == "b" || mnemonic == "br" || mnemonic == "ud2";
}

/// A function's code in nodes: what stands between labels, jumps and the calls that count.
class FunctionCode {
 public:
  explicit FunctionCode(size_t first_label) : next_label_(first_label) { begin_node(); }

  /// Returns what is to stand behind the line.
  std::string see(std::string_view line) {
    if (line.empty() || (line.starts_with('.') && !line.ends_with(':')) || line.starts_with('#')) return "";
    if (line.ends_with(':')) {
      follow();
      nodes_by_label_[std::string(line.substr(0, line.size() - 1))] = nodes_.size() - 1;
      return "";
    }
    const std::string_view mnemonic = line.substr(0, line.find_first_of(kSpace));
    if (line.starts_with("call") && line.find(kCounter) != std::string_view::npos) {
      follow();
      nodes_.back().label = fmt::format(".Ltreadle_code_{}", next_label_++);
      return nodes_.back().label + ":\n";
    }
    const std::string_view target = jump_target(mnemonic, line);
    if (!target.empty()) nodes_.back().jumps_to = target;
    nodes_.back().goes_on = !never_goes_on(mnemonic);
    if (!target.empty() || !nodes_.back().goes_on) begin_node();
    return "";
  }

  /// Lines that declare the order; empty where nothing is counted.
  std::string table() const {
    Graph successors(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].goes_on && i + 1 < nodes_.size()) successors[i].push_back(i + 1);
      const auto target = nodes_by_label_.find(nodes_[i].jumps_to);
      if (target != nodes_by_label_.end()) successors[i].push_back(target->second);
    }
    std::string text;
    size_t rank = 0;
    for (const size_t node : order_of_code(successors))
      if (!nodes_[node].label.empty()) text += fmt::format("\t.quad\t{}, {}\n", nodes_[node].label, ++rank);
    return text;
  }

  size_t next_label() const { return next_label_; }

 private:
  struct Node {
    std::string jumps_to, label;
    bool goes_on = true;
  };
  void begin_node() { nodes_.emplace_back(); }
  /// A node that the one before goes on to.
  void follow() { begin_node(); }

  std::vector<Node> nodes_;
  std::map<std::string, size_t> nodes_by_label_;
  size_t next_label_;
};

/// The group of `.section name,"axG",@progbits,group,comdat`; empty where it has none.
std::string_view group_of(std::string_view section) {
  if (!section.ends_with(",comdat")) return {};
  section.remove_suffix(std::string_view(",comdat").size());
  return section.substr(section.rfind(',') + 1);
}

/// What is thrown away with a function must lie in its group.
std::string in_section(std::string_view group, const std::string& table) {
  if (table.empty()) return "";
  const std::string flags =
      group.empty() ? "\"a\",@progbits" : fmt::format("\"aG\",@progbits,{},comdat", group);
  return fmt::format("\t.pushsection\ttreadle_code_order,{}\n{}\t.popsection\n", flags, table);
}

}  // namespace

std::vector<size_t> order_of_code(const std::vector<std::vector<size_t>>& successors) {
  return CodeOrder(successors).run();
}

std::string with_block_order(std::string_view assembly) {
  std::string result;
  result.reserve(assembly.size() + assembly.size() / 16);
  std::string_view group;
  std::vector<FunctionCode> function;  // the one that is being read
  size_t label = 0;
  for (size_t begin = 0; begin < assembly.size();) {
    const size_t end = std::min(assembly.find('\n', begin), assembly.size());
    const std::string_view whole = assembly.substr(begin, end - begin), line = trimmed(whole);
    begin = end + 1;
    result.append(whole).push_back('\n');
    if (line.starts_with(".section")) {
      group = group_of(line);
    } else if (line == ".text") {
      group = {};
    } else if (line.starts_with(".cfi_startproc")) {
      function.assign(1, FunctionCode(label));
    } else if (line.starts_with(".cfi_endproc") && !function.empty()) {
      result += in_section(group, function[0].table());
      label = function[0].next_label();
      function.clear();
    } else if (!function.empty()) {
      result += function[0].see(line);
    }
  }
  return result;
}

}  // namespace treadle::simt::driver
