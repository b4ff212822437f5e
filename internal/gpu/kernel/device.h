// What a kernel needs of its machine, twice: here for a GPU, compiled by clang to
// PTX without any CUDA header or library, and in host.h for plain C++, so that the
// same source runs and is tested where there is no card. No other file knows on
// which of them it is.
//
// Kernels are written in phases: see team.h.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

static_assert(sizeof(int) == 4 && sizeof(u64) == 8 && sizeof(void*) == 8, "the Go side expects these sizes");

enum { warpSize = 32 };

template <class T> struct Four {
    T x[4];
};

#ifdef __CUDA__

#define DEVICE static __attribute__((device)) inline __attribute__((always_inline))
#define DEVICE_MEMBER __attribute__((device)) inline __attribute__((always_inline))
#define FUNCTION static __attribute__((device)) __attribute__((noinline)) // called, to keep the code small
#define CONSTANT static __attribute__((device)) const
#define SHARED(Type, name) static __attribute__((shared)) Type name // one for each block
#define UNROLL _Pragma("unroll")
#define KERNEL(name, Args, body)                                                                   \
    extern "C" __attribute__((global, launch_bounds(blockThreads, blocksAtATime)))                 \
    void name(const Args args) {                                                                   \
        prepareBlock();                                                                            \
        body(args, (int)__nvvm_read_ptx_sreg_ctaid_x(), (int)__nvvm_read_ptx_sreg_nctaid_x());     \
    }

enum { blockThreads = 256, blocksAtATime = 2 }; // two on a multiprocessor: 128 registers a thread

DEVICE int threadOfBlock() { return __nvvm_read_ptx_sreg_tid_x(); }

// barrier waits for all threads of the block.
DEVICE void barrier() { __syncthreads(); }

// warpBarrier waits for all threads of the warp.
DEVICE void warpBarrier() { __nvvm_bar_warp_sync(0xffffffff); }

// shuffle returns what the thread of the warp whose number differs by `mask` has
// as x; all threads of the warp take part.
DEVICE double shuffle(double x, int mask) {
    u64 w = __builtin_bit_cast(u64, x);
    u32 low = __nvvm_shfl_sync_bfly_i32(0xffffffff, (u32)w, mask, 31);
    u32 high = __nvvm_shfl_sync_bfly_i32(0xffffffff, (u32)(w >> 32), mask, 31);
    return __builtin_bit_cast(double, (u64)high << 32 | low);
}

// byteOf is byte number i of w, the lowest one 0.
DEVICE u32 byteOf(u32 w, int i) { return __nvvm_prmt(w, 0, 0x4440 + i); }

// fromGlobal reads a number that is in the memory of the device, not of a block or a thread:
// such reads need not wait for writes to those.
template <class T> DEVICE T fromGlobal(const T* at) { return *(const __attribute__((address_space(1))) T*)at; }

// fourFromGlobal reads four neighbouring numbers from a multiple of 16 bytes on.
DEVICE Four<float> fourFromGlobal(const float* at) {
    typedef float Vector __attribute__((vector_size(16)));
    return __builtin_bit_cast(Four<float>, fromGlobal((const Vector*)at));
}

// opaque hides the value x from the compiler: it does not make an address for every
// constant distance from there, ahead of a loop, but has them in the instructions.
DEVICE int opaque(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

// abreast hides four values alike, so that what is computed from one is not ahead of the others
// in the program: their chains of instructions run side by side.
DEVICE void abreast(int* x) { asm volatile("" : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3])); }

// peek and put read and write a number that other threads write and read at the
// same time; next adds 1 to it and returns what was there. They order nothing.
template <class T> DEVICE T peek(const T* at) { return *(const volatile T*)at; }
template <class T> DEVICE void put(T* at, T x) { *(volatile T*)at = x; }
DEVICE int next(int* at) { return __nvvm_atom_add_gen_i(at, 1); }

// arrive adds x to a number. What this thread, and threads that it waited for, did
// before is done for those that return from await because of it. PTX ISA, section
// 8.7.
DEVICE void arrive(u32* at, u32 x) { asm volatile("red.release.gpu.add.u32 [%0], %1;" : : "l"(at), "r"(x) : "memory"); }

// await waits until the highest bit of *at is not that of `before`. Only the last
// read empties the multiprocessor's cache; ptxas must not see that its result is
// known.
DEVICE void await(const u32* at, u32 before) {
    u32 now;
    do {
        while ((peek(at) ^ before) >> 31 == 0) {
        }
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(at) : "memory");
    } while ((now ^ before) >> 31 == 0);
}

#else
#include "host.h"
#endif
