// The machine of plain C++: a block is one thread, or, compiled with -DTHREADS=n,
// n of them, a multiple of 32 (fibers.h).
#pragma once

#define DEVICE static inline
#define DEVICE_MEMBER inline
#define FUNCTION static
#define CONSTANT static const
#define UNROLL

#ifdef THREADS
#include "fibers.h"
#else

#define SHARED(Type, name) static thread_local Type name // tests run side by side
#define KERNEL(name, Args, body)                                                                   \
    extern "C" void name(const Args* args, i64 blocks) {                                           \
        for (int block = 0; block < (int)blocks; block++) body(*args, block, (int)blocks);         \
    }

enum { blockThreads = 1, mostBlocks = 1 };

DEVICE int threadOfBlock() { return 0; }
DEVICE void barrier() {}
DEVICE double shuffle(double x, int) { return x; }
DEVICE void await(const u32*, u32) {}

#endif

DEVICE void warpBarrier() {}
DEVICE u32 byteOf(u32 w, int i) { return w >> 8 * i & 255; }
DEVICE int opaque(int x) { return x; }
DEVICE void abreast(int*) {}
template <class T> DEVICE T fromGlobal(const T* at) { return *at; }
DEVICE Four<float> fourFromGlobal(const float* at) { return *(const Four<float>*)at; }
template <class T> DEVICE T peek(const T* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
template <class T> DEVICE void put(T* at, T x) { __atomic_store_n(at, x, __ATOMIC_RELAXED); }
DEVICE int next(int* at) { return __atomic_fetch_add(at, 1, __ATOMIC_RELAXED); }
DEVICE void arrive(u32* at, u32 x) { __atomic_fetch_add(at, x, __ATOMIC_RELEASE); }
