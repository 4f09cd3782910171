/// The inner loops of the gradients of a convolution whose result is max-pooled, in SIMD instructions chosen
/// at run time. Only the places that were chosen, with a gradient other than zero, are visited: they are
/// listed first, filter by filter.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// Floats in a vector of the instruction set in use.
int64_t vector_floats();

/// dy and choice of one filter: a row of pooling windows per image.
struct PooledRows {
  const float* dy;
  const uint8_t* choice;
  int64_t dy_step, choice_step;  ///< from one image to the next, in elements
  int64_t images, windows;
};

/// Where the convolution's window that was chosen begins in the planes of some images, in elements.
struct PlaceOffsets {
  const int32_t* windows;  ///< of place 0 of each pooling window, in the first image
  const int32_t* places;   ///< from there to the places that 0 … 255 choose
  int32_t count;           ///< of places; higher choices choose none
  int32_t image_step;
};

/// Writes the non-zero gradients (NaN among them) and their offsets in order and returns how many there are;
/// `sum` is their sum. values and offsets have room for all and one vector more.
int64_t list_gradients(const PooledRows& rows, const PlaceOffsets& places, float* values, int32_t* offsets,
                       float* sum);

/// Lists of gradients of filters that follow one another: list i begins at i · capacity.
struct GradientLists {
  const float* values;
  const int32_t* offsets;
  const int64_t* counts;
  int64_t capacity;
};

/// What a filter covers in a plane: `rows` × `columns` runs of floats that follow one another. A filter's own
/// numbers lie as [rows][columns][vectors · vector_floats()]; behind the run there may be anything in sums
/// and must be zeros in weights.
struct FilterWindow {
  int64_t rows, columns;
  int64_t row_step, column_step;  ///< in the plane
  int64_t run;                    ///< floats

  int64_t vectors() const { return (run + vector_floats() - 1) / vector_floats(); }
  int64_t size() const { return rows * columns * vectors() * vector_floats(); }
};

/// sums[filter] += Σ value · (what the window covers at offset). Up to a vector behind a run is read.
void add_windows(const GradientLists& lists, int64_t filters, const FilterWindow& window, const float* plane,
                 float* sums);

/// What the window covers at offset += value · weights[filter], for every gradient. Up to a vector behind a
/// run is written to, but not changed.
void spread_windows(const GradientLists& lists, int64_t filters, const FilterWindow& window,
                    const float* weights, float* plane);

}  // namespace treadle::cpu
