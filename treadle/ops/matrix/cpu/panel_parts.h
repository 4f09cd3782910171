/// How threads share a panel product.
#pragma once

#include "treadle/graph/variant.h"
#include "treadle/ops/matrix/cpu/linear_parts.h"
#include "treadle/ops/matrix/cpu/linear_products.h"

namespace treadle::linear_parts {

constexpr int64_t kTile = 4;  ///< rows of a register tile, of which the larger are multiples

/// What of c a thread makes.
enum class Share { rows, columns };

/// Whole rows: writing them by halves, a thread would fetch the other's lines ahead. But where b is larger
/// than c, or packed from columns, each thread has its own columns of it.
inline Share share_of(const cpu::PanelProduct& product) {
  const int64_t wanted = parts_of(product.M * product.N * product.K);
  const bool by_columns = (product.K > product.M || product.b_column != 1) && product.N >= kLine * wanted;
  return by_columns ? Share::columns : Share::rows;
}

/// Calls make(part of the product, scratch) with at least `floats` of scratch for each, and also(index,
/// parts) on the thread that made a part, and once where there are no products.
template <class Make, class Also>
void for_parts_of(const Call& call, const cpu::PanelProduct& product, Share share, int64_t floats, Make make,
                  Also also) {
  const int64_t wanted = parts_of(product.M * product.N * product.K);
  const bool by_columns = share == Share::columns;
  const Cut cut = by_columns ? Cut(product.N, wanted, kLine) : Cut(product.M, wanted, kTile);
  if (cut.parts() == 0) return also(0, 1);
  const int64_t size = in_lines(floats);
  float* scratch = call.workspace<float>(size * cut.parts());
  for_each_part(cut, [&](int64_t index, Range r) {
    cpu::PanelProduct p = product;
    if (by_columns) {
      p.N = r.size(), p.b += r.begin * p.b_column, p.c += r.begin;
      if (p.bias) p.bias += r.begin;
    } else {
      p.M = r.size(), p.a += r.begin * p.a_row, p.c += r.begin * p.c_row;
    }
    make(p, scratch + index * size);
    also(index, cut.parts());
  });
}

template <class Also>
void multiply_panels_in_parts(const Call& call, const cpu::PanelProduct& product, Share share, Also also) {
  for_parts_of(
      call, product, share, cpu::panel_scratch(product),
      [](const cpu::PanelProduct& part, float* scratch) { cpu::multiply_panels(part, scratch); }, also);
}

template <class Also>
void multiply_panels_in_parts(const Call& call, const cpu::PanelProduct& product, Also also) {
  multiply_panels_in_parts(call, product, share_of(product), also);
}

inline void multiply_panels_in_parts(const Call& call, const cpu::PanelProduct& product, Share share) {
  multiply_panels_in_parts(call, product, share, [](int64_t, int64_t) {});
}

inline void multiply_panels_in_parts(const Call& call, const cpu::PanelProduct& product) {
  multiply_panels_in_parts(call, product, share_of(product));
}

}  // namespace treadle::linear_parts
