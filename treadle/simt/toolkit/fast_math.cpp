// CUDA's fast functions whose names the C library declares and does not have. In the form of programs: they
// are linked with them.
#include <math.h>

extern "C" {

float __expf(float x) noexcept { return expf(x); }
float __exp2f(float x) noexcept { return exp2f(x); }
float __exp10f(float x) noexcept { return exp10f(x); }
float __logf(float x) noexcept { return logf(x); }
float __log2f(float x) noexcept { return log2f(x); }
float __log10f(float x) noexcept { return log10f(x); }
float __powf(float x, float y) noexcept { return powf(x, y); }
float __sinf(float x) noexcept { return sinf(x); }
float __cosf(float x) noexcept { return cosf(x); }
float __tanf(float x) noexcept { return tanf(x); }
float __sinhf(float x) noexcept { return sinhf(x); }
float __coshf(float x) noexcept { return coshf(x); }
float __tanhf(float x) noexcept { return tanhf(x); }
void __sincosf(float x, float* sine, float* cosine) noexcept { sincosf(x, sine, cosine); }

}  // extern "C"
