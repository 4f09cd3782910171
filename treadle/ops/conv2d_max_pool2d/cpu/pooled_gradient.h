/// The inner loops of the gradients of a convolution whose result is max-pooled, in SIMD instructions chosen
/// at run time. Only the places that were chosen, with a gradient other than zero, are visited: they are
/// listed first.
#pragma once

#include <cstdint>

namespace treadle::cpu {

/// Floats in a vector of the instruction set in use.
int64_t vector_floats();

/// dy and choice of one filter: a row of pooling windows per image.
struct FilterRows {
  const float* dy;
  const uint8_t* choice;
  int64_t dy_step, choice_step;  ///< from one image to the next, in elements
  int64_t images, windows;
};

/// Where in the planes of some images the convolution's window begins that was chosen.
struct PlaceOffsets {
  const int32_t* windows;  ///< for place 0 of each pooling window, in the first image
  const int32_t* places;   ///< from there to the places that 0 … 255 choose
  int32_t count;           ///< of places; higher choices choose none
  int32_t image_step;
};

/// Writes the filter's gradients that are not 0 (NaN among them) and their offsets, in order, and returns how
/// many there are; `sum` is their sum. values and offsets have room for all and a vector more.
int64_t list_of_filter(const FilterRows& rows, const PlaceOffsets& places, float* values, int32_t* offsets,
                       float* sum);

/// The same for one place of one pooling window: dy and choice hold an element per filter, and filter k's
/// offset is k · filter_step.
int64_t list_of_place(int64_t filters, const float* dy, const uint8_t* choice, uint8_t place,
                      int32_t filter_step, float* values, int32_t* offsets);

/// Gradients [begin, end) belong to the window at `target`.
struct GradientList {
  int64_t begin, end, target;
};

/// A convolution's window in memory: `rows` × `columns` runs of floats.
struct WindowShape {
  int64_t rows, columns, run;
};
struct WindowSteps {
  int64_t row, column;
};

/// (out window at target) += Σ value · (in window at offset), list by list. Up to a vector behind a run of
/// either is read, and that behind a run of `out` is written back as it was; out must not overlap in.
void add_windows(int64_t lists, const GradientList* list, const float* values, const int32_t* offsets,
                 const WindowShape& shape, const float* in, WindowSteps in_steps, float* out,
                 WindowSteps out_steps);

}  // namespace treadle::cpu
