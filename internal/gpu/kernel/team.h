// Teams of threads. In a phase a team shares out independent pieces of work, and
// all of it waits between phases. Every sum has a shape that depends on the
// data's shape only, so all teams, the team of one included, compute the same
// bits.
#pragma once
#include "latency.h"

// A Group is blocks that wait for each other; this block is number `member`.
// All of them must be running: the host launches no more than fit on the device at
// once. The highest bit of *arrivals changes whenever all have arrived, and between
// that the others count those that have, from 0. On one thread a group is one block.
struct Group {
    u32* arrivals;
    int blocks, member;

    DEVICE_MEMBER void wait() const {
        barrier();
        if (blocks == 1) return;
        if (threadOfBlock() == 0) {
            u32 before = peek(arrivals);
            arrive(arrivals, member == 0 ? (1u << 31) - (u32)(blocks - 1) : 1);
            await(arrivals, before);
        }
        barrier();
    }
};

// A Team is the threads that share out the pieces of a phase: thread `rank` of
// `size`, in warps of 32. It is a block, or the blocks of a group. The team of
// one is a warp by itself.
struct Team {
    int rank, size;
    u32* arrivals; // of the group; null: a block

    // sync ends a phase.
    DEVICE_MEMBER void sync() const {
        if (arrivals) Group{arrivals, size / blockThreads, rank / blockThreads}.wait();
        else barrier();
    }
};

DEVICE Team blockTeam() { return Team{threadOfBlock(), blockThreads, 0}; }

// groupTeam is all blocks of a group.
DEVICE Team groupTeam(const Group& g) {
    return Team{g.member * blockThreads + threadOfBlock(), g.blocks * blockThreads, g.arrivals};
}

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
    int threads = blockThreads == 1 ? 1 : (int)warpSize;
    for (int i = t.rank / threads; i < size; i += t.size / threads) f(i);
}

// from is the team whose warps begin `warps` further on, so that short pieces of work one after
// the other fall on different warps.
DEVICE Team from(Team t, int warps) {
    int threads = blockThreads == 1 ? 1 : (int)warpSize, rank = t.rank - (int)((u32)warps % (u32)(t.size / threads)) * threads;
    return Team{rank < 0 ? rank + t.size : rank, t.size, t.arrivals};
}

// eachFour calls write(i, b, read(i, b)) for all i < size and b < n, as each does, but reads
// four numbers before it writes the first.
template <class R, class W> DEVICE void eachFour(Team t, int size, int n, R read, W write) {
    enum { abreast = 4 };
    i64 total = (i64)size * n;
    for (i64 begin = t.rank - threadOfBlock() % warpSize; begin < total; begin += (i64)abreast * t.size) { // whole warps
        int i[abreast], b[abreast];
        decltype(read(0, 0)) x[abreast];
        UNROLL for (int k = 0; k < abreast; k++) {
            i64 e = begin + threadOfBlock() % warpSize + (i64)k * t.size;
            i[k] = e < total ? (int)((u32)e / (u32)n) : 0;
            b[k] = e < total ? (int)((u32)e % (u32)n) : 0;
            x[k] = read(i[k], b[k]);
        }
        int nothing = afterReads();
        UNROLL for (int k = 0; k < abreast; k++)
            if (begin + threadOfBlock() % warpSize + (i64)k * t.size < total) write(i[k], b[k], later(x[k], nothing));
    }
}

// Three are numbers of one term of a sum.
struct Three {
    double x, y, z;
};

// warpSum is Σ term(read(b)) over b < n for the threads of a warp: 32 partial sums of every
// 32nd term, then a tree of halves. Of four terms all numbers are read before the first is
// used.
template <class R, class F> DEVICE double warpSum(int n, R read, F term) {
    enum { abreast = 4 };
    if (blockThreads == 1) {
        double s[warpSize] = {};
        for (int b = 0; b < n; b++) s[b % warpSize] += term(read(b));
        for (int half = warpSize / 2; half > 0; half /= 2)
            for (int l = 0; l < half; l++) s[l] += s[l + half];
        return s[0];
    }
    double sum = 0;
    for (int begin = 0; begin < n; begin += abreast * warpSize) {
        Three x[abreast];
        UNROLL for (int k = 0; k < abreast; k++) {
            int b = begin + k * warpSize + threadOfBlock() % warpSize;
            x[k] = read(b < n ? b : 0);
        }
        int nothing = afterReads();
        UNROLL for (int k = 0; k < abreast; k++) {
            double next = term(Three{later(x[k].x, nothing), later(x[k].y, nothing), later(x[k].z, nothing)});
            sum = begin + k * warpSize + threadOfBlock() % warpSize < n ? sum + next : sum;
        }
    }
    for (int half = warpSize / 2; half > 0; half /= 2) sum += shuffle(sum, half);
    return sum;
}

// warpSum is Σ read(b).
template <class R> DEVICE double warpSum(int n, R read) {
    return warpSum(n, [&](int b) { return Three{read(b), 0, 0}; }, [](const Three& x) { return x.x; });
}

// totals calls put(k, s) for k < count, a power of two, with the sums s of sums[·][k] over the
// threads of a warp, each of which has `own` of its 32 partial sums; a tree of halves, as
// warpSum's.
template <int own, int count, class G> DEVICE void totals(double (*sums)[count], G put) {
    if (own == warpSize) {
        for (int k = 0; k < count; k++) {
            for (int half = warpSize / 2; half > 0; half /= 2)
                for (int l = 0; l < half; l++) sums[l % own][k] += sums[(l + half) % own][k];
            put(k, sums[0][k]);
        }
        return;
    }
    // a thread keeps half of the sums, then half of those, and exchanges the others
    int lane = threadOfBlock() % warpSize, half = warpSize / 2;
    double s[count];
    UNROLL for (int k = 0; k < count; k++) s[k] = sums[0][k];
    UNROLL for (int left = count / 2; left > 0; left /= 2) {
        bool high = lane & half;
        UNROLL for (int k = 0; k < left; k++) {
            double gives = high ? s[k] : s[k + left];
            s[k] = (high ? s[k + left] : s[k]) + shuffle(gives, half);
        }
        half /= 2;
    }
    UNROLL for (; half > 0; half /= 2) s[0] += shuffle(s[0], half);
    if (lane % (warpSize / count) == 0) put(lane / (warpSize / count), s[0]);
}

// fourSums calls put(r, Σ f(r, k) over k < n) for all r < 4: a warp is 8 threads for
// each r, and a sum 8 partial sums of every 8th term, then a tree of halves.
template <class F, class G> DEVICE void fourSums(int n, F f, G put) {
    enum { sums = 4, parts = warpSize / sums };
    if (blockThreads == 1) {
        for (int r = 0; r < sums; r++) {
            double s[parts] = {};
            for (int k = 0; k < n; k++) s[k % parts] += f(r, k);
            for (int half = parts / 2; half > 0; half /= 2)
                for (int l = 0; l < half; l++) s[l] += s[l + half];
            put(r, s[0]);
        }
        return;
    }
    int lane = threadOfBlock() % warpSize, r = lane % sums;
    double s = 0;
    for (int k = lane / sums; k < n; k += parts) s += f(r, k);
    for (int half = warpSize / 2; half >= sums; half /= 2) s += shuffle(s, half);
    if (lane < sums) put(r, s);
}

// firstOfWarp reports whether this thread writes what its warp computed.
DEVICE bool firstOfWarp() { return threadOfBlock() % warpSize == 0; }

// sumInOrder is x[0] + x[step] + ..., n numbers, `abreast` of them read at a time.
DEVICE double sumInOrder(const double* x, i64 step, int n) {
    enum { abreast = 4 };
    double s = 0;
    for (int i = 0; i < n; i += abreast) {
        double next[abreast];
        UNROLL for (int k = 0; k < abreast; k++) next[k] = x[(i + k < n ? i + k : n - 1) * step];
        UNROLL for (int k = 0; k < abreast; k++) s = i + k < n ? s + next[k] : s;
    }
    return s;
}
