// What the threads of a block read again and again, in shared memory: after each
// wait for other blocks all else is read from far away.
#pragma once
#include "run.h"

// Local is a block's own copy of a run, with the lists that fit.
struct Local {
    Run run;
    u64 lists[12 << 7];
};
static_assert(sizeof(Local) + sizeof(Scratch) <= 48 << 10, "what a block may have without asking");

// copyWords copies `count` structures.
template <class T> DEVICE void copyWords(T* to, const T* from, int count) {
    static_assert(sizeof(T) % sizeof(u64) == 0, "whole words");
    for (int k = threadOfBlock(); k < count * (int)(sizeof(T) / sizeof(u64)); k += blockThreads) ((u64*)to)[k] = ((const u64*)from)[k];
}

// keep copies a list behind the `used` words of others, if there is room, and points
// `at` there.
template <class T> DEVICE void keep(Local& local, int* used, const T* from, int count, const T** at) {
    int words = count * (int)(sizeof(T) / sizeof(u64));
    if (*used + words > (int)(sizeof(local.lists) / sizeof(u64))) return;
    T* to = (T*)(local.lists + *used);
    copyWords(to, from, count);
    if (threadOfBlock() == 0) *at = to;
    *used += words;
}

DEVICE void keepLists(Local& local, int* used, const Arguments& from, Arguments& to) {
    keep(local, used, from.global, from.globalCount, &to.global);
    keep(local, used, from.record, from.recordCount, &to.record);
    keep(local, used, from.columns, from.columnCount, &to.columns);
    keep(local, used, from.dots, from.dotCount, &to.dots);
    keep(local, used, from.terms, from.termCount, &to.terms);
    keep(local, used, from.pairs, from.pairCount, &to.pairs);
    keep(local, used, (const u64*)from.indices, from.indexCount / 2, (const u64**)&to.indices);
}

// localRun is the block's copy of a run, whose own lists come first if it leads; a barrier has
// to follow before they are read.
DEVICE Run& localRun(const Run& from, bool leads) {
    SHARED(Local, local);
    copyWords(&local.run, &from, 1);
    barrier();
    int used = 0;
    if (!leads) keepLists(local, &used, from.tape, local.run.tape);
    keepLists(local, &used, from.absorb, local.run.absorb);
    keepLists(local, &used, from.propose, local.run.propose);
    keepLists(local, &used, from.prior, local.run.prior);
    if (leads) keepLists(local, &used, from.tape, local.run.tape);
    return local.run;
}
