// Blocks of many threads on one thread of the host: each is a fiber, which runs
// until it waits for others. The next to run is the one after it, or before it,
// by turns, so that a phase that needs a barrier and has none computes other bits.
// Threads that wait for what cannot happen end the program.
//
// ThreadSanitizer knows fibers: it is told that barriers order what their threads
// do, and nothing else does, so that it finds every two accesses between which
// there is no barrier, whatever the order in which they happened here.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define UNSEEN static __attribute__((no_sanitize_thread, noinline))
#else
#define UNSEEN static
enum { __tsan_switch_to_fiber_no_sync };
static inline void* __tsan_create_fiber(unsigned) { return 0; }
static inline void* __tsan_get_current_fiber() { return 0; }
static inline void __tsan_switch_to_fiber(void*, unsigned) {}
static inline void __tsan_acquire(void*) {}
static inline void __tsan_release(void*) {}
#endif

#ifndef BLOCKS
#define BLOCKS 4
#endif
enum { blockThreads = THREADS, mostBlocks = BLOCKS, blockWarps = blockThreads / warpSize, stackBytes = 64 << 10 };
static_assert(blockThreads % warpSize == 0, "whole warps");

// A Barrier is `arrived` of the threads that wait for each other, and how often
// all had. order is what ThreadSanitizer calls it, for even and odd times.
struct Barrier {
    u32 arrived, times;
    char order[2];
};

struct Warp {
    Barrier barrier;
    u64 values[warpSize];
};

struct Fiber {
    ucontext_t context;
    void* tsan;
    const u32* at; // ready when *at is not `before`
    u32 before;
    int block, thread; // block: of those that run at the same time
    bool done, looks;  // looks: it may go on although *at is `before`
};

// The device. The last fiber is the host's thread.
static struct {
    Fiber fibers[mostBlocks * blockThreads + 1];
    Barrier barriers[mostBlocks];
    Warp warps[mostBlocks][blockWarps];
    int running, current, turn; // turn: place in the order, forth and back
    char started, ended;        // orders for ThreadSanitizer
    void (*body)(int block);
    int firstBlock;
} grid;

// The fibers' stacks.
static struct {
    alignas(4096) char of[mostBlocks * blockThreads][stackBytes];
} stacks;

UNSEEN Fiber& currentFiber() { return grid.fibers[grid.current]; }
UNSEEN int threadOfBlock() { return currentFiber().thread; }
UNSEEN int blockNow() { return currentFiber().block; }

UNSEEN void switchTo(int fiber) {
    int from = grid.current;
    if (fiber == from) return;
    grid.current = fiber;
    __tsan_switch_to_fiber(grid.fibers[fiber].tsan, __tsan_switch_to_fiber_no_sync);
    swapcontext(&grid.fibers[from].context, &grid.fibers[fiber].context);
}

// runOthers goes on with a fiber that is ready, or, when all are done, the host.
UNSEEN void runOthers() {
    bool all = true;
    for (int k = 0; k < 2 * grid.running; k++) {
        grid.turn = (grid.turn + 1) % (2 * grid.running);
        int i = grid.turn < grid.running ? grid.turn : 2 * grid.running - 1 - grid.turn;
        const Fiber& f = grid.fibers[i];
        if (f.done) continue;
        all = false;
        if (!f.at || *f.at != f.before) return switchTo(i);
    }
    if (all) return switchTo(mostBlocks * blockThreads);
    for (int i = 0; i < grid.running; i++) {
        const Fiber& f = grid.fibers[i];
        if (!f.done && f.looks) return switchTo(i);
    }
    Fiber& f = currentFiber();
    std::fprintf(stderr, "block %d, thread %d: all threads wait or are done\n", grid.firstBlock + f.block, f.thread);
    std::abort();
}

// waitFor waits until *at is not `before`.
UNSEEN void waitFor(const u32* at, u32 before) {
    Fiber& f = currentFiber();
    f.at = at;
    f.before = before;
    runOthers();
    f.at = 0;
}

// meet waits for all of n threads.
UNSEEN void meet(Barrier& b, u32 n, bool orders) {
    u32 before = b.times;
    char* order = &b.order[before % 2];
    if (orders) __tsan_release(order);
    if (++b.arrived == n) {
        b.arrived = 0;
        b.times++;
    }
    if (b.times == before) waitFor(&b.times, before);
    if (orders) __tsan_acquire(order);
}

UNSEEN void barrier() { meet(grid.barriers[blockNow()], blockThreads, true); }

UNSEEN int laneOfWarp() { return threadOfBlock() % warpSize; }
UNSEEN Warp& warpNow() { return grid.warps[blockNow()][threadOfBlock() / warpSize]; }

// exchange returns what another lane of the warp has as x. As on a device, it orders
// nothing in memory.
UNSEEN u64 exchange(u64 x, int lane) {
    Warp& w = warpNow();
    w.values[laneOfWarp()] = x;
    meet(w.barrier, warpSize, false);
    u64 y = w.values[lane];
    meet(w.barrier, warpSize, false);
    return y;
}

UNSEEN double shuffle(double x, int mask) {
    return __builtin_bit_cast(double, exchange(__builtin_bit_cast(u64, x), laneOfWarp() ^ mask));
}

DEVICE void await(const u32* at, u32 before) {
    for (u32 now; (((now = __atomic_load_n(at, __ATOMIC_ACQUIRE)) ^ before) >> 31) == 0;) waitFor(at, now);
}

UNSEEN void runFiber() {
    __tsan_acquire(&grid.started);
    grid.body(grid.firstBlock + blockNow());
    __tsan_release(&grid.ended);
    currentFiber().done = true;
    runOthers();
}

// startFiber readies thread `thread` of block `block`.
UNSEEN void startFiber(int block, int thread) {
    Fiber& f = grid.fibers[block * blockThreads + thread];
    if (!f.context.uc_stack.ss_sp) {
        f.tsan = __tsan_create_fiber(0);
        f.context.uc_stack.ss_size = stackBytes;
        f.context.uc_stack.ss_sp = stacks.of[block * blockThreads + thread];
    }
    stack_t stack = f.context.uc_stack;
    getcontext(&f.context);
    f.context.uc_stack = stack;
    makecontext(&f.context, runFiber, 0);
    f.block = block;
    f.thread = thread;
    f.done = f.looks = false;
    f.at = 0;
}

// runGrid calls body(block) in every thread of all blocks, mostBlocks of which
// run at the same time.
UNSEEN void runGrid(int blocks, void (*body)(int block)) {
    grid.body = body;
    for (grid.firstBlock = 0; grid.firstBlock < blocks; grid.firstBlock += mostBlocks) {
        int together = blocks - grid.firstBlock < mostBlocks ? blocks - grid.firstBlock : (int)mostBlocks;
        for (int block = 0; block < together; block++)
            for (int thread = 0; thread < blockThreads; thread++) startFiber(block, thread);
        grid.running = together * blockThreads;
        grid.current = mostBlocks * blockThreads;
        grid.fibers[grid.current].tsan = __tsan_get_current_fiber();
        __tsan_release(&grid.started);
        runOthers();
        __tsan_acquire(&grid.ended);
    }
}

#define SHARED(Type, name)                                                                         \
    static Type name##OfBlocks[mostBlocks];                                                        \
    Type& name = name##OfBlocks[blockNow()]
#define KERNEL(name, Args, body)                                                                   \
    extern "C" void name(const Args* given, i64 count) {                                           \
        static Args args;                                                                          \
        static int blocks;                                                                         \
        args = *given;                                                                             \
        blocks = (int)count;                                                                       \
        runGrid(blocks, [](int block) { ::body(args, block, blocks); });                           \
    }
