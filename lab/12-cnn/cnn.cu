// A convolutional network for images of 28×28 in ten classes, trained by kernels that are all in this file:
// convolution 1→8 of 5×5, ReLU and 2×2 max-pooling, convolution 8→16 of 5×5, the same, and a linear layer
// 256→10.
//
// cnn [FOLDER [IMAGES [EPOCHS]]]: a folder with the four files of MNIST or Fashion-MNIST, and how many images
// to learn from. cnn --gradients: compares the gradients with differences of the loss.
#include <cstdint>
#include <cstring>
#include <string>

#include "../lab.h"

constexpr int kThreads = 128, kClasses = 10;

__device__ int thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }
int blocks_for(int threads) { return (threads + kThreads - 1) / kThreads; }

// ---- Convolution: y[n][k][p][q] = b[k] + Σ w[k][c][r][s] · x[n][c][p + r][q + s]

// Channels in and out, side of the image, side of the window. They are known to the compiler, so that a
// division by one of them is none.
template <int C_, int K_, int H_, int R_>
struct Windows {
  static constexpr int C = C_, K = K_, H = H_, R = R_;
  static constexpr int side = H - R + 1, pixels = side * side;
  static constexpr int inputs = C * H * H, outputs = K * pixels, taps = C * R * R;
};

// A thread for each element of y.
template <class Z>
__global__ void convolution(const float* x, const float* w, const float* b, float* y, int N) {
  int i = thread_of_grid();
  if (i >= N * Z::outputs) return;
  int q = i % Z::side, p = i / Z::side % Z::side, k = i / Z::pixels % Z::K, n = i / Z::outputs;
  float sum = b[k];
  for (int c = 0; c < Z::C; ++c)
    for (int r = 0; r < Z::R; ++r)
      for (int s = 0; s < Z::R; ++s)
        sum += w[(k * Z::C + c) * Z::R * Z::R + r * Z::R + s] *
               x[((n * Z::C + c) * Z::H + p + r) * Z::H + q + s];
  y[i] = sum;
}

// A thread for each element of dx: it gathers from all windows that it was in, so that no two threads add to
// one place.
template <class Z>
__global__ void convolution_input_gradient(const float* dy, const float* w, float* dx, int N) {
  int i = thread_of_grid();
  if (i >= N * Z::inputs) return;
  int column = i % Z::H, row = i / Z::H % Z::H, c = i / (Z::H * Z::H) % Z::C, n = i / Z::inputs;
  float sum = 0;
  for (int k = 0; k < Z::K; ++k)
    for (int r = max(0, row - Z::side + 1); r < Z::R && r <= row; ++r)
      for (int s = max(0, column - Z::side + 1); s < Z::R && s <= column; ++s)
        sum += w[(k * Z::C + c) * Z::R * Z::R + r * Z::R + s] *
               dy[((n * Z::K + k) * Z::side + row - r) * Z::side + column - s];
  dx[i] = sum;
}

// The sum over a block; thread 0 gets it (lesson 4).
__device__ float sum_of_block(float sum) {
  __shared__ float of_warp[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int warp = 1; warp < kThreads / 32; ++warp) sum += threadIdx.x == 0 ? of_warp[warp] : 0;
  return sum;
}

// A block for each element of w, and one more for each of b: sums over all images and places.
template <class Z>
__global__ void convolution_parameter_gradient(const float* x, const float* dy, float* dw, float* db, int N) {
  int k = blockIdx.y, tap = blockIdx.x;
  int c = tap / (Z::R * Z::R), r = tap / Z::R % Z::R, s = tap % Z::R;
  float sum = 0;
  for (int i = threadIdx.x; i < N * Z::pixels; i += kThreads) {
    int q = i % Z::side, p = i / Z::side % Z::side, n = i / Z::pixels;
    float upstream = dy[(n * Z::K + k) * Z::pixels + p * Z::side + q];
    sum += tap == Z::taps ? upstream : upstream * x[((n * Z::C + c) * Z::H + p + r) * Z::H + q + s];
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *(tap == Z::taps ? &db[k] : &dw[k * Z::taps + tap]) = sum;
}

// ---- ReLU and 2×2 max-pooling; `place` keeps which of the four won, 4 where the ReLU is closed

__global__ void pool(const float* x, float* y, uint8_t* place, int side, int count) {
  int i = thread_of_grid();
  if (i >= count) return;
  int half = side / 2, q = i % half, p = i / half % half, image = i / (half * half);
  float best = 0;
  uint8_t chosen = 4;
  for (int j = 0; j < 4; ++j) {
    float value = x[(image * side + 2 * p + j / 2) * side + 2 * q + j % 2];
    if (value > best) best = value, chosen = uint8_t(j);
  }
  y[i] = best;
  place[i] = chosen;
}

__global__ void pool_gradient(const float* dy, const uint8_t* place, float* dx, int side, int count) {
  int i = thread_of_grid();
  if (i >= count) return;
  int half = side / 2, q = i % half, p = i / half % half, image = i / (half * half);
  for (int j = 0; j < 4; ++j)
    dx[(image * side + 2 * p + j / 2) * side + 2 * q + j % 2] = place[i] == j ? dy[i] : 0;
}

// ---- Linear layer: y[n][o] = b[o] + Σ w[o][i] · x[n][i]

__global__ void linear(const float* x, const float* w, const float* b, float* y, int inputs, int outputs,
                       int N) {
  int i = thread_of_grid();
  if (i >= N * outputs) return;
  int n = i / outputs, o = i % outputs;
  float sum = b[o];
  for (int j = 0; j < inputs; ++j) sum += w[o * inputs + j] * x[n * inputs + j];
  y[i] = sum;
}

__global__ void linear_input_gradient(const float* dy, const float* w, float* dx, int inputs, int outputs,
                                      int N) {
  int i = thread_of_grid();
  if (i >= N * inputs) return;
  float sum = 0;
  for (int o = 0; o < outputs; ++o) sum += dy[i / inputs * outputs + o] * w[o * inputs + i % inputs];
  dx[i] = sum;
}

// The element behind a row of w is that of b.
__global__ void linear_parameter_gradient(const float* x, const float* dy, float* dw, float* db, int inputs,
                                          int outputs, int N) {
  int i = thread_of_grid();
  if (i >= outputs * (inputs + 1)) return;
  int o = i / (inputs + 1), j = i % (inputs + 1);
  float sum = 0;
  for (int n = 0; n < N; ++n) sum += dy[n * outputs + o] * (j < inputs ? x[n * inputs + j] : 1);
  *(j < inputs ? &dw[o * inputs + j] : &db[o]) = sum;
}

// ---- Loss: mean of −log softmax(x)[label]; its gradient by x is (softmax(x) − 1 at the label) / N

__global__ void cross_entropy(const float* x, const uint8_t* labels, float* dx, float* loss, int* correct,
                              int N) {
  int n = thread_of_grid();
  if (n >= N) return;
  x += n * kClasses, dx += n * kClasses;
  int label = labels[n], best = 0;
  for (int i = 1; i < kClasses; ++i)
    if (x[i] > x[best]) best = i;
  float sum = 0;
  for (int i = 0; i < kClasses; ++i) sum += expf(x[i] - x[best]);
  for (int i = 0; i < kClasses; ++i) dx[i] = (expf(x[i] - x[best]) / sum - (i == label)) / N;
  atomicAdd(loss, (logf(sum) - (x[label] - x[best])) / N);
  if (best == label) atomicAdd(correct, 1);
}

// ---- Stochastic gradient descent with momentum: v = 0.9 v + dw, w = w − rate · v

__global__ void descend(float* w, const float* dw, float* v, float rate, int count) {
  int i = thread_of_grid();
  if (i >= count) return;
  v[i] = 0.9f * v[i] + dw[i];
  w[i] -= rate * v[i];
}

__global__ void pixels_to_floats(const uint8_t* pixels, float* x, int count) {
  int i = thread_of_grid();
  if (i < count) x[i] = pixels[i] / 255.0f;
}

// ---- The network

struct Parameter {
  const char* name;
  lab::Array<float> w, gradient, momentum;

  // Uniform in ±1/√fan_in.
  Parameter(const char* name, int count, int fan_in, unsigned seed)
      : name(name), w(count), gradient(count), momentum(count) {
    std::vector<float> values = lab::numbers(count, seed);
    for (float& value : values) value /= std::sqrt(float(fan_in));
    w.set(values);
    momentum.clear();
  }
};

struct Figures {
  float loss = 0;
  int correct = 0;
};

class Network {
 public:
  using First = Windows<1, 8, 28, 5>;
  using Second = Windows<8, 16, 12, 5>;
  static constexpr int features = 16 * 4 * 4;

  explicit Network(int largest_batch)
      : x(largest_batch * First::inputs),
        y1(largest_batch * First::outputs),
        p1(largest_batch * Second::inputs),
        y2(largest_batch * Second::outputs),
        p2(largest_batch * features),
        logits(largest_batch * kClasses),
        dy1(y1.count()),
        dp1(p1.count()),
        dy2(y2.count()),
        dp2(p2.count()),
        dlogits(logits.count()),
        place1(p1.count()),
        place2(p2.count()),
        loss(1),
        correct(1) {}

  Figures forward(const uint8_t* pixels, const uint8_t* labels, int N) {
    pixels_to_floats<<<blocks_for(N * First::inputs), kThreads>>>(pixels, x, N * First::inputs);
    convolution<First><<<blocks_for(N * First::outputs), kThreads>>>(x, w1.w, b1.w, y1, N);
    pool<<<blocks_for(N * Second::inputs), kThreads>>>(y1, p1, place1, First::side, N * Second::inputs);
    convolution<Second><<<blocks_for(N * Second::outputs), kThreads>>>(p1, w2.w, b2.w, y2, N);
    pool<<<blocks_for(N * features), kThreads>>>(y2, p2, place2, Second::side, N * features);
    linear<<<blocks_for(N * kClasses), kThreads>>>(p2, w3.w, b3.w, logits, features, kClasses, N);
    loss.clear(), correct.clear();
    cross_entropy<<<blocks_for(N), kThreads>>>(logits, labels, dlogits, loss, correct, N);
    MUST(cudaGetLastError());
    return {loss.values()[0], correct.values()[0]};
  }

  // Backwards through the same layers; each kernel takes the gradient of its result and gives those of what
  // it has read.
  void backward(int N) {
    linear_parameter_gradient<<<blocks_for(kClasses * (features + 1)), kThreads>>>(
        p2, dlogits, w3.gradient, b3.gradient, features, kClasses, N);
    linear_input_gradient<<<blocks_for(N * features), kThreads>>>(dlogits, w3.w, dp2, features, kClasses, N);
    pool_gradient<<<blocks_for(N * features), kThreads>>>(dp2, place2, dy2, Second::side, N * features);
    convolution_parameter_gradient<Second>
        <<<dim3(Second::taps + 1, Second::K), kThreads>>>(p1, dy2, w2.gradient, b2.gradient, N);
    convolution_input_gradient<Second><<<blocks_for(N * Second::inputs), kThreads>>>(dy2, w2.w, dp1, N);
    pool_gradient<<<blocks_for(N * Second::inputs), kThreads>>>(dp1, place1, dy1, First::side,
                                                                N * Second::inputs);
    convolution_parameter_gradient<First>
        <<<dim3(First::taps + 1, First::K), kThreads>>>(x, dy1, w1.gradient, b1.gradient, N);
    MUST(cudaGetLastError());
  }

  void update(float rate) {
    for (Parameter* p : parameters())
      descend<<<blocks_for(int(p->w.count())), kThreads>>>(p->w, p->gradient, p->momentum, rate,
                                                           int(p->w.count()));
    MUST(cudaGetLastError());
  }

  std::vector<Parameter*> parameters() { return {&w1, &b1, &w2, &b2, &w3, &b3}; }

 private:
  Parameter w1{"first.weight", First::K*First::taps, First::taps, 1},
      b1{"first.bias", First::K, First::taps, 2},
      w2{"second.weight", Second::K*Second::taps, Second::taps, 3},
      b2{"second.bias", Second::K, Second::taps, 4}, w3{"linear.weight", kClasses*features, features, 5},
      b3{"linear.bias", kClasses, features, 6};
  lab::Array<float> x, y1, p1, y2, p2, logits, dy1, dp1, dy2, dp2, dlogits;
  lab::Array<uint8_t> place1, place2;
  lab::Array<float> loss;
  lab::Array<int> correct;
};

// ---- Data

struct Images {
  std::vector<uint8_t> pixels, labels;
  int count() const { return int(labels.size()); }
};

// At most `most` bytes of an idx file behind its header of `header` bytes.
std::vector<uint8_t> read_idx(const std::string& path, size_t header, size_t most) {
  std::vector<uint8_t> bytes(header + most);
  size_t count = 0;
  if (FILE* file = popen(("gzip -dc '" + path + "'").c_str(), "r")) {
    count = fread(bytes.data(), 1, bytes.size(), file);
    pclose(file);
  }
  if (count <= header) {
    fprintf(stderr, "%s cannot be read: `treadle datasets` says where data sets are or how to get them\n",
            path.c_str());
    exit(1);
  }
  return {bytes.begin() + long(header), bytes.begin() + long(count)};
}

Images read_images(const std::string& folder, const char* part, int most) {
  Images images{read_idx(folder + "/" + part + "-images-idx3-ubyte.gz", 16, size_t(most) * 784),
                read_idx(folder + "/" + part + "-labels-idx1-ubyte.gz", 8, size_t(most))};
  images.labels.resize(std::min(images.labels.size(), images.pixels.size() / 784));
  return images;
}

// ---- Training

constexpr int kBatch = 16;

// The share of images that the network tells right.
double accuracy(Network& network, const Images& images) {
  const lab::Array<uint8_t> pixels(images.pixels), labels(images.labels);
  int correct = 0;
  for (int begin = 0; begin < images.count(); begin += kBatch)
    correct += network.forward(pixels + begin * 784, labels + begin, std::min(kBatch, images.count() - begin))
                   .correct;
  return double(correct) / images.count();
}

// The rate falls to nothing along a straight line.
void train(Network& network, const Images& images, int epochs) {
  const lab::Array<uint8_t> pixels(images.pixels), labels(images.labels);
  const int steps = images.count() / kBatch, all = epochs * steps;
  for (int epoch = 0, step = 0; epoch < epochs; ++epoch) {
    double loss = 0;
    int correct = 0;
    for (int batch = 0; batch < steps; ++batch, ++step) {
      const int begin = batch * kBatch;
      const Figures figures = network.forward(pixels + begin * 784, labels + begin, kBatch);
      network.backward(kBatch);
      network.update(0.05f * float(all - step) / float(all));
      loss += figures.loss, correct += figures.correct;
    }
    printf("epoch %d: loss %.3f, %.1f %% right\n", epoch + 1, loss / steps,
           100.0 * correct / (steps * kBatch));
    fflush(stdout);  // seen at once in a pipe, too
  }
}

double norm(const std::vector<float>& values) {
  double squares = 0;
  for (float value : values) squares += double(value) * value;
  return std::sqrt(squares);
}

// Along its own direction g / |g| the loss must rise by |g|: for each parameter the difference quotient is
// compared with it.
int compare_gradients() {
  const int N = 8;
  Network network(N);
  std::vector<uint8_t> pixels(N * 784), labels(N);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint8_t(lab::hash(7, unsigned(i)));
  for (int i = 0; i < N; ++i) labels[i] = uint8_t(i);
  const lab::Array<uint8_t> device_pixels(pixels), device_labels(labels);
  network.forward(device_pixels, device_labels, N);
  network.backward(N);
  bool right = true;
  printf("%-16s %12s %14s\n", "parameter", "gradient", "by differences");
  for (Parameter* parameter : network.parameters()) {
    const std::vector<float> gradient = parameter->gradient.values(), before = parameter->w.values();
    const double length = norm(gradient), step = 0.0005;
    const auto loss_at = [&](double distance) {
      std::vector<float> moved = before;
      for (size_t i = 0; i < moved.size(); ++i) moved[i] += float(distance * gradient[i] / length);
      parameter->w.set(moved);
      return double(network.forward(device_pixels, device_labels, N).loss);
    };
    const double by_differences = (loss_at(step) - loss_at(-step)) / (2 * step);
    parameter->w.set(before);
    printf("%-16s %12.5f %14.5f\n", parameter->name, length, by_differences);
    right &= std::fabs(by_differences - length) < 0.03 * length + 1e-4;
  }
  printf("the gradients are %s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "--gradients") == 0) return compare_gradients();
  const std::string folder = count > 1 ? words[1] : "/usr/share/datasets/fashion-mnist";
  const int images = lab::positive_argument(count, words, 2, 800),
            epochs = lab::positive_argument(count, words, 3, 1);
  Network network(kBatch);
  train(network, read_images(folder, "train", images), epochs);
  const Images test = read_images(folder, "t10k", std::max(images / 4, 100));
  const double share = accuracy(network, test);
  printf("%.1f %% of %d test images are told right\n", 100 * share, test.count());
  return share > 0.5 ? 0 : 1;  // by chance it would be a tenth
}
