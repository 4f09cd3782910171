// y[k][p][q] = Σ w[k][c][r][s] · x[c][p + r − 1][q + s − 1] over c, r, s: a convolution of 3×3 windows with a
// border of zeros, by four algorithms. C channels become K, images keep their height H and width W.
#include "../lab.h"

struct Sizes {
  int C, K, H, W;

  __host__ __device__ int pixels() const { return H * W; }
  __host__ __device__ int terms() const { return C * 9; }  // of the sum for an element of y
};

// The element of x in a row and a column of channel c; 0 outside of the image.
__device__ float pixel(const float* x, const Sizes& z, int c, int row, int column) {
  return row >= 0 && row < z.H && column >= 0 && column < z.W ? x[(c * z.H + row) * z.W + column] : 0;
}

// Element (term, place) of the matrix that has a column for each place of y and a row for each term of its
// sum.
__device__ float term_at(const float* x, const Sizes& z, int term, int place) {
  int c = term / 9, r = term % 9 / 3, s = term % 3;
  return pixel(x, z, c, place / z.W + r - 1, place % z.W + s - 1);
}

// A thread for each element of y reads its window and its filter from global memory.
__global__ void convolution_naive(const float* x, const float* w, float* y, Sizes z) {
  int place = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
  if (place >= z.pixels()) return;
  float sum = 0;
  for (int c = 0; c < z.C; ++c)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s)
        sum += w[(k * z.C + c) * 9 + r * 3 + s] * pixel(x, z, c, place / z.W + r - 1, place % z.W + s - 1);
  y[k * z.pixels() + place] = sum;
}

// im2col writes that matrix out, nine times the image, so that a product of matrices does the rest.
__global__ void im2col(const float* x, float* columns, Sizes z) {
  int place = blockIdx.x * blockDim.x + threadIdx.x, term = blockIdx.y;
  if (place < z.pixels()) columns[term * z.pixels() + place] = term_at(x, z, term, place);
}

constexpr int kTile = 16;

// y = w · terms, a matrix of K × pixels, in tiles (lesson 7). `Terms` gives element (term, place) of the
// second matrix: from memory, or gathered from the image on its way into shared memory, so that it is never
// written.
template <class Terms>
__device__ void multiply_tiles(const float* w, const Terms& terms, float* y, const Sizes& z) {
  __shared__ float w_tile[kTile][kTile], x_tile[kTile][kTile];
  int k = blockIdx.y * kTile + threadIdx.y, place = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < z.terms(); first += kTile) {
    int w_term = first + threadIdx.x, x_term = first + threadIdx.y;
    w_tile[threadIdx.y][threadIdx.x] = k < z.K && w_term < z.terms() ? w[k * z.terms() + w_term] : 0;
    x_tile[threadIdx.y][threadIdx.x] = x_term < z.terms() && place < z.pixels() ? terms(x_term, place) : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += w_tile[threadIdx.y][i] * x_tile[i][threadIdx.x];
    __syncthreads();
  }
  if (k < z.K && place < z.pixels()) y[k * z.pixels() + place] = sum;
}

__global__ void product_of_columns(const float* w, const float* columns, float* y, Sizes z) {
  multiply_tiles(
      w, [&](int term, int place) { return columns[term * z.pixels() + place]; }, y, z);
}

__global__ void convolution_implicit(const float* x, const float* w, float* y, Sizes z) {
  multiply_tiles(
      w, [&](int term, int place) { return term_at(x, z, term, place); }, y, z);
}

// Winograd's F(2×2, 3×3): 4×4 numbers of the image and 4×4 of the filter, transformed, meet in 16 products,
// of which a second transform makes 2×2 results that would have taken 36. u = G w Gᵀ, v = Bᵀ x B, y = Aᵀ (u ∘
// v) A.
__device__ void transform_filter(float a, float b, float c, float (&out)[4]) {
  out[0] = a, out[1] = (a + b + c) / 2, out[2] = (a - b + c) / 2, out[3] = c;
}

__global__ void winograd_filters(const float* w, float* u, Sizes z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;  // filter k, channel c
  if (i >= z.K * z.C) return;
  float rows[4][3];  // G w
  for (int s = 0; s < 3; ++s) {
    float column[4];
    transform_filter(w[i * 9 + s], w[i * 9 + 3 + s], w[i * 9 + 6 + s], column);
    for (int r = 0; r < 4; ++r) rows[r][s] = column[r];
  }
  for (int r = 0; r < 4; ++r) {
    float row[4];
    transform_filter(rows[r][0], rows[r][1], rows[r][2], row);
    for (int s = 0; s < 4; ++s) u[i * 16 + r * 4 + s] = row[s];
  }
}

__device__ void transform_pixels(float& a, float& b, float& c, float& d) {
  float first = a - c, second = b + c, third = c - b, fourth = b - d;
  a = first, b = second, c = third, d = fourth;
}

// A thread for each tile of 2×2 results and each filter.
__global__ void convolution_winograd(const float* x, const float* u, float* y, Sizes z) {
  int tiles_across = (z.W + 1) / 2, tiles = tiles_across * ((z.H + 1) / 2);
  int tile = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
  if (tile >= tiles) return;
  int p = tile / tiles_across * 2, q = tile % tiles_across * 2;
  float sums[4][4] = {};
  for (int c = 0; c < z.C; ++c) {
    float v[4][4];
    for (int r = 0; r < 4; ++r)
      for (int s = 0; s < 4; ++s) v[r][s] = pixel(x, z, c, p + r - 1, q + s - 1);
    for (int s = 0; s < 4; ++s) transform_pixels(v[0][s], v[1][s], v[2][s], v[3][s]);
    for (int r = 0; r < 4; ++r) transform_pixels(v[r][0], v[r][1], v[r][2], v[r][3]);
    for (int i = 0; i < 16; ++i) sums[i / 4][i % 4] += u[(k * z.C + c) * 16 + i] * v[i / 4][i % 4];
  }
  float rows[2][4];  // Aᵀ (u ∘ v)
  for (int s = 0; s < 4; ++s) {
    rows[0][s] = sums[0][s] + sums[1][s] + sums[2][s];
    rows[1][s] = sums[1][s] - sums[2][s] - sums[3][s];
  }
  for (int r = 0; r < 2 && p + r < z.H; ++r) {
    float* to = y + (k * z.H + p + r) * z.W + q;
    to[0] = rows[r][0] + rows[r][1] + rows[r][2];
    if (q + 1 < z.W) to[1] = rows[r][1] - rows[r][2] - rows[r][3];
  }
}

std::vector<float> expected_of(const std::vector<float>& x, const std::vector<float>& w, const Sizes& z) {
  std::vector<float> y(size_t(z.K) * z.pixels());
  for (int k = 0; k < z.K; ++k)
    for (int p = 0; p < z.H; ++p)
      for (int q = 0; q < z.W; ++q) {
        double sum = 0;
        for (int c = 0; c < z.C; ++c)
          for (int r = std::max(0, 1 - p); r < 3 && p + r - 1 < z.H; ++r)
            for (int s = std::max(0, 1 - q); s < 3 && q + s - 1 < z.W; ++s)
              sum += double(w[(k * z.C + c) * 9 + r * 3 + s]) * x[(c * z.H + p + r - 1) * z.W + q + s - 1];
        y[(k * z.H + p) * z.W + q] = float(sum);
      }
  return y;
}

int main() {
  const Sizes z{8, 16, 15, 14};
  const std::vector<float> x = lab::numbers(z.C * z.pixels(), 1), w = lab::numbers(z.K * z.terms(), 2);
  const std::vector<float> expected = expected_of(x, w, z);
  const lab::Array<float> device_x(x), device_w(w), columns(size_t(z.terms()) * z.pixels()),
      u(z.K * z.C * 16);
  const int blocks = (z.pixels() + 127) / 128, tiles = ((z.H + 1) / 2) * ((z.W + 1) / 2);
  const dim3 grid((z.pixels() + kTile - 1) / kTile, (z.K + kTile - 1) / kTile), block(kTile, kTile);

  lab::Table table("16 filters over 8 channels of 15×14");
  // As many products and sums as terms, each rounded by 2^-24 of a partial sum of at most so much.
  const double terms = z.terms(), tolerance = 2 * terms * terms * 0x1p-24;
  table.row("convolution_naive", expected, tolerance,
            [&](float* y) { convolution_naive<<<dim3(blocks, z.K), 128>>>(device_x, device_w, y, z); });
  table.row("im2col and product", expected, tolerance, [&](float* y) {
    im2col<<<dim3(blocks, z.terms()), 128>>>(device_x, columns, z);
    product_of_columns<<<grid, block>>>(device_w, columns, y, z);
  });
  table.row("convolution_implicit", expected, tolerance,
            [&](float* y) { convolution_implicit<<<grid, block>>>(device_x, device_w, y, z); });
  // Transforms add four pixels and divide by four: sums are up to four times as large on their way.
  table.row("convolution_winograd", expected, 4 * tolerance, [&](float* y) {
    winograd_filters<<<(z.K * z.C + 127) / 128, 128>>>(device_w, u, z);
    convolution_winograd<<<dim3((tiles + 63) / 64, z.K), 64>>>(device_x, u, y, z);
  });
  return table.end();
}
