/// Launchers of the test kernels: the same declarations for both targets, each in its namespace.
#pragma once

#include <cstdint>

#include "treadle/simt/half.h"

namespace treadle::TREADLE_TARGET {

// barriers.cu
void matmul_tiled(stream_t stream, const float* a, const float* b, float* c, int n);
void block_sum_static(stream_t stream, const float* x, float* sum, int n);
template <class T>
void block_sum_dynamic(stream_t stream, const T* x, T* sum, int n);
void voting_barriers(stream_t stream, const int* x, int* count, int* all, int* any, int n);
void barrier_after_exit(stream_t stream, int* out, int threads, int leaving);
void staged_copy(stream_t stream, const float* x, float* y);
void thread_coordinates(stream_t stream, dim3 grid, dim3 block, unsigned* seen);
void repeated_barriers(stream_t stream, int threads, int count);

// warps.cu
void shuffle_all(stream_t stream, const int* x, int* index, int* up, int* down, int* exchange, int width);
template <class T>
void shuffle_down_one(stream_t stream, const T* x, T* y);
void shuffle_partial(stream_t stream, const int* x, int* y, unsigned mask);
void shuffle_divergent(stream_t stream, const int* x, int* y);
void votes(stream_t stream, const int* x, unsigned* ballot, int* any, int* all, unsigned mask);
void matches(stream_t stream, const int* x, unsigned* any, unsigned* all, int* all_equal);
void reductions(stream_t stream, const unsigned* x, unsigned* results);
void collective_after_exit(stream_t stream, int* y, int leaving);
void tile_sums(stream_t stream, const int* x, int* sums, unsigned* ballots);

// atomics.cu
void histogram(stream_t stream, const unsigned char* x, unsigned* bins, int n, int blocks);
template <class T>
void add_ones(stream_t stream, T* sum, int blocks, int threads);
void atomic_operations(stream_t stream, unsigned* words, int* signed_words);
void last_block_sum(stream_t stream, const float* x, float* partial, unsigned* finished, float* sum,
                    int blocks);
void locked_increments(stream_t stream, int* lock, int* counter, int blocks);

// numbers.cu
void wmma_product(stream_t stream, const __half* a, const __half* b, float* c, int n);
void wmma_product(stream_t stream, const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n);
void half_operations(stream_t stream, const __half* x, __half* y);
void stencil(stream_t stream, const float* taps, const float* x, float* y, int n);
void intrinsics(stream_t stream, const unsigned* x, unsigned* y);

// tensor_cores.cu
void load_matrices(stream_t stream, const __half* matrices, uint32_t* rows, uint32_t* columns);
template <class T>
void mma_product(stream_t stream, const T* a, const T* b, float* c, int lanes);
void load_unaligned_rows(stream_t stream, uint32_t* rows);

// independent.cu
template <class T>
void scale_and_add(stream_t stream, T a, const T* x, T* y, int n);
void add_rows(stream_t stream, const float* x, const float* bias, float* y, int rows, int columns);
void barrier_in_independent(stream_t stream);
void shuffle_in_independent(stream_t stream);

// grids.cu
void reverse_through_grid(stream_t stream, const float* x, float* y, float* z, int blocks, int threads);
void grid_sync_without_cooperation(stream_t stream);
void half_the_blocks_sync(stream_t stream);

// faults.cu
void divergent_barrier(stream_t stream);
void half_a_warp_shuffles(stream_t stream);
void mask_without_caller(stream_t stream);
void barrier_against_shuffle(stream_t stream);
void trap_between_barriers(stream_t stream);
void trap_in_independent(stream_t stream);
void trap_beside_barriers(stream_t stream, int rounds_before);

// crashes.cu; `plain`: as an independent launch
void store_to_null(stream_t stream);
void divide_by_zero(bool plain);
void fail_assertion(bool plain);
int recurse(bool plain, int depth);
int use_huge_frame(stream_t stream, int i);
void use_80_kilobytes(stream_t stream, int* x, int step);
void abort_in_kernel(bool plain);
void terminate_in_kernel(bool plain);
void execute_illegal_instruction(bool plain);

// shared_memory.cu
void copy_in_groups(stream_t stream, const int* x, int* seen);
void copy_without_wait(stream_t stream, const int* x, int* seen);
void copy_misaligned(stream_t stream, const float* x, float* y);
void read_before_writing(stream_t stream, float* seen);
void write_behind(stream_t stream, int n);

// spins.cu
void wait_for_volatile_flag(stream_t stream, int* out);
void meet_by_volatile(stream_t stream, unsigned* arrived, unsigned* seen, int blocks);
void wait_for_volatile_in_plain_loop(stream_t stream, int* flags, int blocks);
void compute(stream_t stream, double* x, int steps);
void never_end(bool plain);
void hand_over_for_ever(stream_t stream);
void spin_for_ever(stream_t stream);

// reductions.cu
void reduce_twice(stream_t stream, const int* x, int* sums, int* squares, int blocks, int threads);
void reduce_twice_unprotected(stream_t stream, const int* x, int* sums, int* squares, int blocks, int threads,
                              bool tree);

// progress.cu
void wait_for_later_warp(stream_t stream, int* flag, int* out);
void wait_for_later_block(stream_t stream, int* flags, int* order, int blocks);
void rotate_blocks(stream_t stream, float* x, unsigned* arrived, int rounds, int blocks);
void look_back_scan(stream_t stream, const int* x, int* y, int* words, int blocks);
void lock_by_all_threads(stream_t stream, int* lock, int* counter, int blocks);
void look_so_often(stream_t stream, int* flag, int* looks, int times);
void look_at_many(stream_t stream, int* flags, int n, int* out);
void wait_for_nobody(stream_t stream, int* flag, int blocks);
void wait_in_independent(stream_t stream, int* flags, int blocks);

// debugged.cu
void debugged(stream_t stream, int* out);

}  // namespace treadle::TREADLE_TARGET
