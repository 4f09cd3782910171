/// Tables of the roofline: the ceilings of a machine, and how far each step is from them.
#pragma once

#include <span>
#include <string>

#include "cli/bench/ceilings.h"
#include "cli/bench/step_cost.h"

namespace treadle::cli {

/// The least time for a step on all threads: its operations at the peak rate or its bytes at the read rate of
/// the nearest level that holds them, whichever takes longer.
double least_seconds(const StepCost& cost, const ThreadCeilings& ceilings);

/// As plain text, or as a Markdown table.
enum class TableStyle { plain, markdown };

void print_ceilings(const Ceilings& ceilings, TableStyle style);

/// One row for each step: operations, bytes, time, rates, and the share of the limit that is reached. A
/// variant that does less than the dense work (Winograd, sparse gradients) may exceed it. `step_seconds` is
/// the whole step; what the variants do not account for gets a row of its own.
void print_roofline(std::span<const StepCost> costs, const Ceilings& ceilings, double step_seconds,
                    TableStyle style);

}  // namespace treadle::cli
