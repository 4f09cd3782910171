// A blur of three neighbours along a row, written where it is read: no memory for a second image is needed.
// Or is it?
#include "../../lab.h"

__global__ void blur(float* x, int columns) {
  float* row = x + blockIdx.x * columns;
  int i = threadIdx.x;
  float sum = row[i];
  if (i > 0) sum += row[i - 1];
  if (i + 1 < columns) sum += row[i + 1];
  row[i] = sum / 3;
}

int main() {
  const int rows = 8, columns = 64;
  const std::vector<float> x = lab::numbers(rows * columns);
  std::vector<float> expected(x.size());
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < columns; ++i)
      for (int j = std::max(0, i - 1); j < std::min(columns, i + 2); ++j)
        expected[r * columns + i] += x[r * columns + j] / 3;
  lab::Table table("8 rows of 64 pixels");
  table.row(
      "blur", expected, 1e-6, [&](float* image) { blur<<<rows, columns>>>(image, columns); },
      [&](float* image) {
        MUST(cudaMemcpy(image, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
      });
  return table.end();
}
