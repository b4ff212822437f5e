// What a kernel needs of its machine, twice: for a GPU, compiled by clang to PTX
// without any CUDA header or library, and for one thread of plain C++, so that
// the same source runs and is tested where there is no card.
//
// Kernels are written in phases: see team.h.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

static_assert(sizeof(int) == 4 && sizeof(u64) == 8 && sizeof(void*) == 8, "the Go side expects these sizes");

#ifdef __CUDA__

#define DEVICE static __attribute__((device)) inline __attribute__((always_inline))
#define DEVICE_MEMBER __attribute__((device)) inline __attribute__((always_inline))
#define FUNCTION static __attribute__((device)) __attribute__((noinline)) // called, to keep the code small
#define CONSTANT static __attribute__((device)) const
#define SHARED static __attribute__((shared))
#define KERNEL(name, Args, body)                                                                   \
    extern "C" __attribute__((global)) void name(const Args args) {                                \
        body(args, (int)__nvvm_read_ptx_sreg_ctaid_x(), (int)__nvvm_read_ptx_sreg_nctaid_x());     \
    }

DEVICE int threadOfBlock() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE int threadsOfBlock() { return __nvvm_read_ptx_sreg_ntid_x(); }
DEVICE void barrier() { __syncthreads(); }

DEVICE double shuffle(double x, int mask) {
    u64 w = __builtin_bit_cast(u64, x);
    u32 low = __nvvm_shfl_sync_bfly_i32(0xffffffff, (u32)w, mask, 31);
    u32 high = __nvvm_shfl_sync_bfly_i32(0xffffffff, (u32)(w >> 32), mask, 31);
    return __builtin_bit_cast(double, (u64)high << 32 | low);
}

#else

#define DEVICE static inline
#define DEVICE_MEMBER inline
#define FUNCTION static
#define CONSTANT static const
#define SHARED static
#define KERNEL(name, Args, body)                                                                   \
    extern "C" void name(const Args* args, i64 blocks) {                                           \
        for (int block = 0; block < (int)blocks; block++) body(*args, block, (int)blocks);         \
    }

DEVICE int threadOfBlock() { return 0; }
DEVICE int threadsOfBlock() { return 1; }
DEVICE void barrier() {}

#endif
