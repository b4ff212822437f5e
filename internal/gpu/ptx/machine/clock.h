// A clock for each thread, in cycles, of clocked translations: what memory, barriers and
// other blocks take. A block finds what it has accessed in its cache until it acquires.
#pragma once
#include "types.h"

#ifdef CLOCK
#include <unordered_set>

enum : u64 { ofShared = 30, ofLocal = 38, ofCache = 38, ofDevice = 280, ofBarrier = 24, ofArrival = 350 };

static u64 clocks[mostBlocks * blockThreads + 1], ofMemory; // ofMemory: the last access
static u64 cycles; // of the last launch
static std::unordered_set<u64> cached[mostBlocks]; // sectors of 32 bytes

inline void until(u64& clock, u64 t) {
    if (t > clock) clock = t;
}

inline void accesses(u64 latency) { ofMemory = latency; }
inline void accessesGlobal(u64 at) { ofMemory = cached[blockNow()].insert(at / 32).second ? ofDevice : ofCache; }

// strongly is an access that other blocks see, or, if it acquires, after which this block
// sees what others did before the highest bit of what it has read changed.
static u64 changed[2], arrivals;
inline void strongly(bool acquires, u64 x) {
    if (ofMemory != ofShared) ofMemory = ofDevice;
    if (!acquires) return;
    until(clocks[grid.current], changed[(u32)x >> 31]);
    cached[blockNow()].clear();
}

inline void arrives(u32 was, u32 now) {
    until(arrivals, clocks[grid.current] + ofArrival);
    if ((was ^ now) >> 31 == 0) return;
    changed[now >> 31] = arrivals;
    arrivals = 0;
}

// atBarrier is called before and after a thread waits; all leave when the last one has come.
static u64 latest[mostBlocks][4], times[mostBlocks * blockThreads + 1];
UNSEEN void atBarrier(bool before) {
    int me = grid.current;
    u64* of = latest[blockNow()];
    if (before) {
        of[(times[me] + 2) % 4] = 0;
        until(of[times[me] % 4], clocks[me]);
    } else {
        clocks[me] = of[times[me]++ % 4] + ofBarrier;
    }
}

static void startClocks() {
    cycles = 0;
    for (auto& c : clocks) c = 0;
    for (auto& c : cached) c.clear();
}

static void stopClocks() {
    for (u64 c : clocks) until(cycles, c);
}

extern "C" u64 d3p_cycles() { return cycles; }
#else
inline void accesses(u64) {}
inline void accessesGlobal(u64) {}
inline void strongly(bool, u64) {}
inline void arrives(u32, u32) {}
inline void atBarrier(bool) {}
inline void startClocks() {}
inline void stopClocks() {}
enum : u64 { ofShared, ofLocal };
#endif
