// Fences order the memory accesses of threads, as barriers do. Thread A writes, fences and
// writes x (volatile or atomic); thread B reads x and fences: then B sees all that A wrote
// before its fence (PTX ISA, "Release and Acquire Patterns"). ThreadSanitizer has no fences,
// so this file reports each such pair to it. Without ThreadSanitizer there is nothing to do,
// since fibers take turns.
#pragma once
#include "types.h"

#ifdef __SANITIZE_THREAD__

// An Order is what a thread has read since its last fence, and a ThreadSanitizer fiber that
// has seen what came before that fence and nothing later.
struct Order {
    void* before;
    const void* seen[8];
    u32 count;
};
static Order orders[mostBlocks * blockThreads];

UNSEEN void hasRead(const void* at) {
    Order& o = orders[grid.current];
    o.seen[o.count++ % 8] = at;
}

UNSEEN void isToWrite(void* at) {
    Order& o = orders[grid.current];
    if (!o.before) return;
    __tsan_switch_to_fiber(o.before, __tsan_switch_to_fiber_no_sync);
    __tsan_release(at);
    __tsan_switch_to_fiber(currentFiber().tsan, __tsan_switch_to_fiber_no_sync);
}

UNSEEN void fence() {
    Order& o = orders[grid.current];
    for (u32 i = 0; i < o.count && i < 8; i++) __tsan_acquire((void*)o.seen[i]);
    o.count = 0;
    if (!o.before) o.before = __tsan_create_fiber(0);
    __tsan_release(&o);
    __tsan_switch_to_fiber(o.before, __tsan_switch_to_fiber_no_sync);
    __tsan_acquire(&o);
    __tsan_switch_to_fiber(currentFiber().tsan, __tsan_switch_to_fiber_no_sync);
}

// What came before a write that releases is seen after a read that acquires.
UNSEEN void release(void* at) { __tsan_release(at); }
UNSEEN void acquire(const void* at) { __tsan_acquire((void*)at); }

#else
inline void compiledInOrder() { asm volatile("" ::: "memory"); }
inline void hasRead(const void*) {}
inline void isToWrite(void*) {}
inline void fence() { compiledInOrder(); }
inline void release(void*) { compiledInOrder(); }
inline void acquire(const void*) { compiledInOrder(); }
#endif

// A Look is the last number that a thread read at a place that others write, and how
// often in a row.
struct Look {
    const void* at;
    u32 was, times;
};
static Look looks[mostBlocks * blockThreads];

inline void forget() { looks[grid.current].at = 0; }

// lookAgain lets others run until *at is not `before`, or, if it may, none can.
UNSEEN void lookAgain(const u32* at, u32 before, bool may) {
    currentFiber().looks = may;
    waitFor(at, before);
    currentFiber().looks = false;
}

// mayHaveChanged is told what a thread has read. Whoever reads the same number twice
// in a row most likely waits for another: others go on first. If none can, it was not
// so, or, after many times, it is in vain.
template <class T> inline bool mayHaveChanged(const T* at, T x) {
    Look& look = looks[grid.current];
    u32 now = 0;
    std::memcpy(&now, &x, sizeof x < sizeof now ? sizeof x : sizeof now);
    bool again = look.at == at && look.was == now;
    look = {at, now, again ? look.times + 1 : 0};
    if (again) lookAgain((const u32*)at, now, look.times < 1000);
    return again;
}

template <class T> inline T relaxedLoad(const T* at) {
    static_assert(sizeof(T) >= sizeof(u32), "a number that threads wait for has 4 bytes or more");
    T x = __atomic_load_n(at, __ATOMIC_RELAXED);
    if (mayHaveChanged(at, x)) x = __atomic_load_n(at, __ATOMIC_RELAXED);
    hasRead(at);
    return x;
}

template <class T> inline void relaxedStore(T* at, T x) {
    forget();
    isToWrite(at);
    __atomic_store_n(at, x, __ATOMIC_RELAXED);
}
