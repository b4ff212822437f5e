// Reads that are under way at the same time. A read of the device's memory takes some
// hundred cycles, and the machine code that NVIDIA's compiler makes of a large kernel has the
// use of a number right behind its read, so that the next read begins when the last one has
// ended. What is computed from a number that is known only later cannot come before it.
#pragma once
#include "bits.h"

// zero is a number in shared memory that is 0 from prepareBlock on.
DEVICE int& zero() {
    SHARED(int, number);
    return number;
}

// prepareBlock is what every kernel begins with (KERNEL).
DEVICE void prepareBlock() {
    if (threadOfBlock() == 0) zero() = 0;
    barrier();
}

// afterReads is 0, and known when all reads of the warp before it have begun.
DEVICE int afterReads() {
    warpBarrier();
    return peek(&zero());
}

// later is x, not before `nothing`, which is 0, is known.
DEVICE float later(float x, int nothing) { return __builtin_bit_cast(float, __builtin_bit_cast(u32, x) | (u32)nothing); }
DEVICE double later(double x, int nothing) { return fromBits(bits(x) | (u64)nothing); }
DEVICE u32 later(u32 x, int nothing) { return x | (u32)nothing; }

// kept is x, or 0 if `keep`, which has all bits or none, has none.
DEVICE float kept(float x, u32 keep) { return __builtin_bit_cast(float, __builtin_bit_cast(u32, x) & keep); }
DEVICE double kept(double x, u32 keep) { return fromBits(bits(x) & ((u64)keep << 32 | keep)); }
DEVICE u32 kept(u32 x, u32 keep) { return x & keep; }
