// The C interface of libtreadle-onednn.so: convolution and matrix product by oneDNN, on the calling thread
// alone.
//
// The library is opened with dlopen and asked for its table of functions; nothing else is exported and
// nothing but plain C crosses the boundary. Every function may be called from several threads at once, on
// different tensors. It computes on the calling thread with one thread: the caller divides the work, by
// slices of the batch. Prepared calls are kept per thread (a bounded number), with their memory, until the
// thread ends.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TREADLE_ONEDNN_ABI_VERSION 2
#define TREADLE_ONEDNN_MAX_RANK 6

#ifdef __cplusplus
extern "C" {
#endif

enum TreadleOnednnDtype { TREADLE_ONEDNN_F32 = 0, TREADLE_ONEDNN_BF16 = 1 };

enum TreadleOnednnStatus {
  TREADLE_ONEDNN_OK = 0,
  TREADLE_ONEDNN_INVALID_ARGUMENT = 1,  // shapes, dtype or options contradict each other
  TREADLE_ONEDNN_FAILED = 2             // oneDNN refused or failed, or memory ran out
};

// A view of the caller's memory. Shapes are logical; strides, in elements, carry the layout.
typedef struct TreadleOnednnTensor {
  void* data;
  int32_t dtype;  // TreadleOnednnDtype
  int32_t rank;
  int64_t shape[TREADLE_ONEDNN_MAX_RANK];
  int64_t strides[TREADLE_ONEDNN_MAX_RANK];
} TreadleOnednnTensor;

// The layout in which a convolution computes; tensors in another layout are copied inside the call.
enum TreadleOnednnLayout {
  TREADLE_ONEDNN_LAYOUT_AUTOMATIC =
      0,  // a fixed rule by function, shape and instruction set; never a measurement
  TREADLE_ONEDNN_LAYOUT_GIVEN = 1,   // the strides of the caller's tensors
  TREADLE_ONEDNN_LAYOUT_PLAIN = 2,   // NCHW
  TREADLE_ONEDNN_LAYOUT_BLOCKED = 3  // what oneDNN likes best, usually blocks of 8 or 16 channels
};

// Pairs are (height, width). A dilation of 1 is a dense filter.
typedef struct TreadleOnednnConv2d {
  int64_t stride[2];
  int64_t pad_begin[2];
  int64_t pad_end[2];
  int64_t dilation[2];
  int64_t groups;
  int32_t layout;  // TreadleOnednnLayout
} TreadleOnednnConv2d;

// Functions return a TreadleOnednnStatus. On an error they write a sentence, cut to message_size bytes with
// the final zero, into message, which may be NULL with size 0. Extents must be at least 1: the caller handles
// empty tensors. Shapes: x, dx [N,C,H,W]; w, dw [K,C/groups,R,S]; b, db [K]; y, dy [N,K,P,Q], where P =
// floor((H + pads - dilation (R - 1) - 1) / stride) + 1. Any strides are accepted; outputs must not overlap
// inputs. Outputs are overwritten, except by matmul with beta. The tensors of a call have one dtype, of which
// dw, db and c may be f32 where the others are bf16. Sums are f32 and rounded once.
typedef struct TreadleOnednnApi {
  int32_t abi_version;

  // oneDNN's own version, such as "2.6.3".
  const char* (*onednn_version)(void);

  // y[n,k,p,q] = sum over c,r,s of x[n,c,p stride + r dilation - pad, ...] w[k,c,r,s] + b[k]; b may be NULL.
  int (*conv2d_forward)(const TreadleOnednnConv2d* options, const TreadleOnednnTensor* x,
                        const TreadleOnednnTensor* w, const TreadleOnednnTensor* b,
                        const TreadleOnednnTensor* y, char* message, size_t message_size);

  // dx: the gradient of sum(y dy) by x.
  int (*conv2d_input_gradient)(const TreadleOnednnConv2d* options, const TreadleOnednnTensor* dy,
                               const TreadleOnednnTensor* w, const TreadleOnednnTensor* dx, char* message,
                               size_t message_size);

  // dw and db: the gradients of sum(y dy) by w and b; db may be NULL.
  int (*conv2d_weight_gradient)(const TreadleOnednnConv2d* options, const TreadleOnednnTensor* x,
                                const TreadleOnednnTensor* dy, const TreadleOnednnTensor* dw,
                                const TreadleOnednnTensor* db, char* message, size_t message_size);

  // c = a b + bias + beta c, with a [..., M, K], b [..., K, N], bias [N] or NULL, c [..., M, N], all of one
  // rank. Leading extents of a and b equal those of c or are 1. A transpose is a view with exchanged strides.
  int (*matmul)(const TreadleOnednnTensor* a, const TreadleOnednnTensor* b, const TreadleOnednnTensor* bias,
                float beta, const TreadleOnednnTensor* c, char* message, size_t message_size);

  // The oneDNN implementation, such as "jit:avx2", that this thread's last successful call used.
  const char* (*last_implementation)(void);

  // Whether the processor multiplies bf16 (AVX-512 BF16, AMX). Without, calls in bf16 may be slow or refused.
  int (*multiplies_bf16)(void);
} TreadleOnednnApi;

// The table, valid until the process ends; NULL when the library speaks another version than the one asked
// for.
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const TreadleOnednnApi*
treadle_onednn_api(int abi_version);

#ifdef __cplusplus
}
#endif
