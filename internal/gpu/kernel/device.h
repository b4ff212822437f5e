// What a kernel needs of its machine, twice: for a GPU, compiled by clang to PTX
// without any CUDA header or library, and for one thread of plain C++, so that
// the same source runs and is tested where there is no card.
//
// Kernels are written in phases. In a phase a team of threads shares out
// independent pieces of work; a barrier stands between phases. Every sum has a
// shape that depends on the data's shape only, so all teams, the team of one
// included, compute the same bits.
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

enum { warpSize = 32 };

// A Team is the threads that share out the pieces of a phase: thread `rank` of
// `size`, in warps of 32. The team of one is a warp by itself.
struct Team {
    int rank, size;
};

DEVICE Team team() { return Team{threadOfBlock(), threadsOfBlock()}; }

// each calls f(i, b) for all i < size and b < n; neighbouring threads have
// neighbouring b.
template <class F> DEVICE void each(Team t, int size, int n, F f) {
    int steps = t.size / n, rest = t.size % n;
    int i = t.rank / n, b = t.rank % n;
    while (i < size) {
        f(i, b);
        i += steps;
        b += rest;
        if (b >= n) {
            b -= n;
            i++;
        }
    }
}

// eachWarp calls f(i) for all i < size in all threads of one warp.
template <class F> DEVICE void eachWarp(Team t, int size, F f) {
    int warps = t.size < warpSize ? 1 : t.size / warpSize;
    for (int i = t.rank / warpSize; i < size; i += warps) f(i);
}

// warpSum is Σ f(b) over b < n for the threads of a warp: 32 partial sums of
// every 32nd term, then a tree of halves.
template <class F> DEVICE double warpSum(int n, F f) {
#ifdef __CUDA__
    double s = 0;
    for (int b = threadOfBlock() % warpSize; b < n; b += warpSize) s += f(b);
    for (int half = warpSize / 2; half > 0; half /= 2) s += shuffle(s, half);
    return s;
#else
    double s[warpSize] = {};
    for (int b = 0; b < n; b++) s[b % warpSize] += f(b);
    for (int half = warpSize / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) s[l] += s[l + half];
    return s[0];
#endif
}

// firstOfWarp says whether this thread writes what its warp computed.
DEVICE bool firstOfWarp() { return threadOfBlock() % warpSize == 0; }
