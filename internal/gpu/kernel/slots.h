// Slots: a batch is cut into chunks, chunk k goes to slot k mod `slots`, and a
// block runs the chunks of a slot in order: forward, backward, norms, factors,
// clipped sums. So the shape of every sum depends on the batch and the tape only,
// not on the machine, nor on how the batch is cut into parts that fit into
// memory.
#pragma once
#include "sums.h"

// A Batch is a part of a batch: `size` records from position `first` on, at
// places[0..size) of the table, or, without places, its first ones.
struct Batch {
    const u32* places;
    i64 first, size;
    int chunk, slots;
};

// clearSlot empties a slot; a barrier has to follow.
DEVICE void clearSlot(Team t, const Arguments& a, int slot) {
    double* sum = a.partial + (i64)slot * a.parameterCount;
    each(t, a.parameterCount, 1, [&](int i, int) { sum[i] = 0; });
    if (t.rank == 0) a.counts[slot] = 0;
}

// addToSlot adds the chunks of a slot, in order, or, if it is fresh, to nothing; a
// barrier has to follow.
FUNCTION void addToSlot(Team t, const Arguments& a, const Batch& batch, int slot, double clipNorm, bool fresh) {
    double* sum = a.partial + (i64)slot * a.parameterCount;
    Frame f = {&a, a.lanes + (i64)slot * a.lanesPerRecord * batch.chunk, batch.places, 0, 0, 0, clipNorm, 0};
    i64 end = batch.first + batch.size;
    u32 firstChunk = (u32)batch.first / batch.chunk;
    int ahead = slot - (int)(firstChunk % batch.slots);
    i64 chunk = firstChunk + (ahead < 0 ? ahead + batch.slots : ahead);
    bool puts = fresh && a.partition && chunk * batch.chunk < end; // the first chunk puts its sum
    if (fresh && !puts) clearSlot(t, a, slot);
    for (i64 begin = chunk; chunk * batch.chunk < end; chunk += batch.slots) {
        if (chunk > begin) t.sync(); // the lanes are used again
        i64 position = chunk * batch.chunk, left = end - position;
        f.position = position - batch.first;
        f.inBatch = position;
        f.n = (int)(left < batch.chunk ? left : batch.chunk);
        loadColumns(t, f);
        execute(t, f, a.record, a.recordCount, f.lanes);
        t.sync();
        innerProducts(t, f);
        clip(t, f);
        accumulate(t, f, sum, &a.counts[slot], puts && chunk == begin);
    }
}

// fewParameters is up to how many of them a warp adds up the slots of each; beyond,
// neighbouring threads add up neighbouring ones, in the slots' order.
enum { fewParameters = 1024 };

// sumSlots sets sum to the sums over all slots.
DEVICE void sumSlots(Team t, const Arguments& a, int slots, double* sum) {
    int P = a.parameterCount;
    if (P > fewParameters) return each(t, P, 1, [&](int i, int) { sum[i] = sumInOrder(a.partial + i, P, slots); });
    eachWarp(t, P, [&](int i) {
        double s = warpSum(slots, [&](int k) { return fromGlobal(a.partial + (i64)k * P + i); });
        if (firstOfWarp()) sum[i] = s;
    });
}

// countOfSlots is the count of all slots, for the threads of a warp.
DEVICE double countOfSlots(const Arguments& a, int slots) {
    return warpSum(slots, [&](int k) { return fromGlobal(a.counts + k); });
}

// addSlots sets sum and count to the sums over all slots.
FUNCTION void addSlots(Team t, const Arguments& a, int slots, double* sum, double* count) {
    sumSlots(t, a, slots, sum);
    eachWarp(t, 1, [&](int) {
        double s = countOfSlots(a, slots);
        if (firstOfWarp()) *count = s;
    });
}
