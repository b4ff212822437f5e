// Chains of element-wise instructions, which a thread takes its elements through,
// some at a time: internal/gpu/fusion.go chooses them. What only the next instruction
// reads stays in registers, what only the chain reads in shared memory, a number of
// its own for each thread, slot and element.
#pragma once
#include "share.h"

enum { mostLinks = 64, mostSlots = 12, ofTilesAbreast = 2, nowhere = -(1 << 30) };

// A Place is where numbers of a link are: that of element i of record b is at
// i·element + b·record, or, in a slot, apart from the others of the thread. at is
// null where the number is the one before in the chain, or goes nowhere else.
struct Place {
    double* at;
    int element, record, slot;
};

// A Link is an instruction of a chain.
struct Link {
    Place from[3], to;
    int op, operands;
    bool checked; // numbers that are not finite are told
};

struct Chain {
    Link links[mostLinks];
    double slots[mostSlots * blockThreads];
};
static_assert(sizeof(Chain) <= sizeof(Scratch), "a chain fits");

// At are E elements of a thread.
template <int E> struct At {
    int i[E], b[E], count; // count: of E, those that there are
};

// placeOf is where a link finds an operand; a slot has `abreast` numbers.
DEVICE Place placeOf(const Frame& f, const Operand& o, double* slots, int abreast) {
    if (o.space == inPrevious) return Place{0, 0, 0, 0};
    if (o.space == inSlots) return Place{slots + o.at * abreast * blockThreads, 0, 0, 1};
    View v = view(f, o);
    return Place{(double*)v.values, v.step * v.element, v.record, 0};
}

// numbers sets x to the numbers at a place, or to those before in the chain.
template <int E> DEVICE void numbers(const Place& p, const At<E>& at, const double* before, double* x) {
    if (!p.at) {
        UNROLL for (int e = 0; e < E; e++) x[e] = before[e];
    } else if (p.slot) {
        UNROLL for (int e = 0; e < E; e++) x[e] = p.at[e * blockThreads + threadOfBlock()];
    } else {
        UNROLL for (int e = 0; e < E; e++) x[e] = p.at[at.i[e] * p.element + at.b[e] * p.record];
    }
}

// apply sets x to what an operation makes of x, y and z; the commonest ones
// without a call.
template <int E> DEVICE void apply(int op, double* x, const double* y, const double* z) {
    switch (op) {
    case opAdd: UNROLL for (int e = 0; e < E; e++) x[e] = x[e] + y[e]; return;
    case opSub: UNROLL for (int e = 0; e < E; e++) x[e] = x[e] - y[e]; return;
    case opMul: UNROLL for (int e = 0; e < E; e++) x[e] = x[e] * y[e]; return;
    case opNeg: UNROLL for (int e = 0; e < E; e++) x[e] = -x[e]; return;
    case opSquare: UNROLL for (int e = 0; e < E; e++) x[e] = x[e] * x[e]; return;
    case opReciprocal: UNROLL for (int e = 0; e < E; e++) x[e] = 1 / x[e]; return;
    case opSqrt: UNROLL for (int e = 0; e < E; e++) x[e] = squareRoot(x[e]); return;
    case opCopy: return;
    }
    UNROLL for (int e = 0; e < E; e++) x[e] = evaluate(op, x[e], y[e], z[e]);
}

// runElements takes a thread's share through a chain, E elements at a time.
template <int E, class Share> FUNCTION void runElements(Share share, const Frame& f, const Chain& chain, int count) {
    for (;;) {
        At<E> at = {};
        UNROLL for (int e = 0; e < E; e++) {
            if (share.next(&at.i[e], &at.b[e])) {
                at.count++;
            } else {
                at.i[e] = at.i[0];
                at.b[e] = at.b[0];
            }
        }
        if (at.count == 0) return;
        double x[E] = {}, y[E] = {}, z[E] = {}, before[E] = {};
        for (int k = 0; k < count; k++) {
            const Link& l = chain.links[k];
            numbers(l.from[0], at, before, x);
            if (l.operands > 1) numbers(l.from[1], at, before, y);
            if (l.operands > 2) numbers(l.from[2], at, before, z);
            apply<E>(l.op, x, y, z);
            UNROLL for (int e = 0; e < E; e++) before[e] = x[e];
            if (!l.to.at) continue;
            if (l.to.slot) {
                UNROLL for (int e = 0; e < E; e++) l.to.at[e * blockThreads + threadOfBlock()] = x[e];
                continue;
            }
            UNROLL for (int e = 0; e < E; e++) {
                if (e >= at.count) break;
                l.to.at[at.i[e] * l.to.element + at.b[e] * l.to.record] = x[e];
                if (l.checked && !isFinite(x[e])) put(f.notFinite, 1);
            }
        }
    }
}

// runChain executes `count` instructions whose results are in `memory`, or in the
// chain.
FUNCTION void runChain(Team t, const Frame& f, const Instr* list, int count, double* memory) {
    Chain& chain = *(Chain*)scratch();
    int abreast = list[0].width;
    barrier(); // nobody needs what was there
    for (int k = threadOfBlock(); k < count; k += blockThreads) {
        const Instr& in = list[k];
        Place to = {memory + (i64)in.dst * f.n, f.n, 1, 0};
        if (in.dst == nowhere) to = Place{0, 0, 0, 0};
        else if (in.dst < 0) to = Place{chain.slots + ~in.dst * abreast * blockThreads, 0, 0, 1};
        chain.links[k] = Link{{placeOf(f, in.a, chain.slots, abreast), placeOf(f, in.b, chain.slots, abreast), placeOf(f, in.c, chain.slots, abreast)},
                              to, in.op, in.rows, in.count > 0 && f.notFinite};
    }
    barrier();
    int size = list[0].size, cols = list[0].cols;
    if (cols > 0) runElements<ofTilesAbreast>(ofTiles(t, f, size), f, chain, count);
    else if (abreast == 4) runElements<4>(inTurn(t, size, f.n), f, chain, count);
    else if (abreast == 2) runElements<2>(inTurn(t, size, f.n), f, chain, count);
    else runElements<1>(inTurn(t, size, f.n), f, chain, count);
}
