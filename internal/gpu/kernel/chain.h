// Chains of element-wise instructions, which a thread takes its elements through,
// some at a time: internal/gpu/fusion.go chooses them. What only the next instruction
// reads stays in registers, what only the chain reads in shared memory, a number of
// its own for each thread, slot and element.
#pragma once
#include "share.h"

enum { mostLinks = 112, mostSlots = 12, mostStrands = 8, ofTilesAbreast = 2, nowhere = -(1 << 30) };

// A Place is where numbers of a link are: that of element i of record b is at
// i·element + b·record.
struct Place {
    double* at;
    int element, record;
};

// What a Link's `how` (fusion.go sets it) says of operand k (k = 3: of the result): whether it
// is in a slot of the thread, or the number before it in the chain (a result: goes nowhere
// else). Then what the link computes: if it is linear, x·y or ±x + y as one fma.
enum {
    ofResult = 3, inSlot = 1, isPrevious = 1 << 4,
    isLinear = 1 << 8, isProduct = 1 << 9, isMinus = 1 << 10, isChecked = 1 << 11, // numbers that are not finite are told
};

// A Link is an instruction of a chain.
struct alignas(16) Link {
    Place from[3], to;
    int op, operands, how, unused;
};

// A Strand is links of a chain that need nothing of the others: internal/gpu/strands.go.
struct Strand {
    int first, count;
};

struct Chain {
    Link links[mostLinks];
    Strand strands[mostStrands];
    double slots[mostSlots * blockThreads];
};
static_assert(sizeof(Chain) <= sizeof(Scratch), "a chain fits");

// At are E elements of a thread.
template <int E> struct At {
    int i[E], b[E], count; // count: of E, those that there are
};

// placeOf is where a link finds an operand; a slot has `abreast` numbers. Without branches, so
// that no read waits for another one.
DEVICE Place placeOf(const Frame& f, const Operand& o, double* slots, int abreast) {
    const Arguments& a = *f.a;
    const double *base = slots, *constants = a.constants, *parameters = a.parameters, *aux = a.aux, *globals = a.globals;
    base = o.space == inConstants ? constants : base;
    base = o.space == inParameters ? parameters : base;
    base = o.space == inAux ? aux : base;
    base = o.space == inGlobals ? globals : base;
    base = o.space == inLanes ? f.lanes : base;
    bool lanes = o.space == inLanes, slot = o.space == inSlots;
    i64 each = lanes ? f.n : slot ? abreast * blockThreads : 1;
    return Place{(double*)base + o.at * each, lanes ? o.step * f.n : o.step, lanes};
}

// linkAt reads a link: all its pieces are on their way before the first is used.
DEVICE Link linkAt(const Link& from) {
    typedef u64 Piece __attribute__((vector_size(16), may_alias));
    Link to;
    UNROLL for (int k = 0; k < (int)(sizeof(Link) / sizeof(Piece)); k++) ((Piece*)&to)[k] = ((const Piece*)&from)[k];
    return to;
}

// numberAt is the address of the number of element e at a place, in a slot or not.
template <int E> DEVICE double* numberAt(const Place& p, bool slot, const At<E>& at, int e) {
    return p.at + (slot ? e * blockThreads + threadOfBlock() : at.i[e] * p.element + at.b[e] * p.record);
}

// numbers sets x to a link's operand k.
template <int E> DEVICE void numbers(const Link& l, int k, const At<E>& at, const double* before, double* x) {
    if (l.how & isPrevious << k) {
        UNROLL for (int e = 0; e < E; e++) x[e] = before[e];
    } else {
        UNROLL for (int e = 0; e < E; e++) x[e] = *numberAt(l.from[k], l.how & inSlot << k, at, e);
    }
}

// linear sets x to x·y, or to x + y or -x + y. That is one fma, without a branch: a product
// adds -0, which changes no bit of it, and a sign of x has -0 for y.
template <int E> DEVICE void linear(int how, double* x, const double* y) {
    double factor = how & isMinus ? -1 : 1;
    UNROLL for (int e = 0; e < E; e++) x[e] = fma(x[e], how & isProduct ? y[e] : factor, how & isProduct ? -0.0 : y[e]);
}

// apply sets x to what an operation that is not linear makes of x, y and z; the commonest
// ones without a call.
template <int E> DEVICE void apply(int op, double* x, const double* y, const double* z) {
    switch (op) {
    case opReciprocal: UNROLL for (int e = 0; e < E; e++) x[e] = 1 / x[e]; return;
    case opSqrt: UNROLL for (int e = 0; e < E; e++) x[e] = squareRoot(x[e]); return;
    }
    UNROLL for (int e = 0; e < E; e++) x[e] = evaluate(op, x[e], y[e], z[e]);
}

// putNumbers puts a link's results where they go.
template <int E> DEVICE void putNumbers(const Link& l, const Frame& f, const At<E>& at, const double* x) {
    bool slot = l.how & inSlot << ofResult;
    UNROLL for (int e = 0; e < E; e++) {
        if (slot || e < at.count) *numberAt(l.to, slot, at, e) = x[e];
        if (l.how & isChecked && !isFinite(x[e])) put(f.notFinite, 1);
    }
}

// runElements takes a thread's share through a chain, E elements at a time.
template <int E, class Share> FUNCTION void runElements(Share share, const Frame& f, const Chain& chain, Strand strand) {
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
        const Link* links = chain.links + strand.first;
        Link l = linkAt(links[0]);
        for (int k = 0; k < strand.count; k++) {
            Link next = linkAt(links[k + 1 < strand.count ? k + 1 : k]); // while this one is executed
            numbers(l, 0, at, before, x);
            if (l.operands > 1) numbers(l, 1, at, before, y);
            else UNROLL for (int e = 0; e < E; e++) y[e] = -0.0;
            if (l.operands > 2) numbers(l, 2, at, before, z);
            if (l.how & isLinear) linear<E>(l.how, x, y);
            else apply<E>(l.op, x, y, z);
            UNROLL for (int e = 0; e < E; e++) before[e] = x[e];
            if (!(l.how & isPrevious << ofResult)) putNumbers(l, f, at, x);
            l = next;
        }
    }
}

// setLink sets a part of a link: operand k, or, of part 3, the rest.
DEVICE void setLink(Link& l, int k, const Frame& f, const Instr& in, double* slots, int abreast, double* memory) {
    if (k < 3) {
        l.from[k] = placeOf(f, k == 0 ? in.a : k == 1 ? in.b : in.c, slots, abreast);
        return;
    }
    bool slot = in.dst < 0 && in.dst != nowhere;
    l.to = Place{slot ? slots + ~in.dst * abreast * blockThreads : memory + (i64)in.dst * f.n, slot ? 0 : f.n, !slot};
    l.op = in.op;
    l.operands = in.rows;
    l.how = f.notFinite ? in.count : in.count & ~isChecked;
}

// runStrands has as many warps for each strand as it has elements for; the block has enough.
DEVICE void runStrands(Team t, const Frame& f, const Chain& chain, int size, int strands) {
    int threads = blockThreads == 1 ? 1 : (size + warpSize - 1) / warpSize * warpSize;
    for (int k = t.rank / threads; k < strands; k += t.size / threads)
        runElements<1>(inTurn(Team{t.rank % threads, threads, 0}, size, f.n), f, chain, chain.strands[k]);
}

// runChain executes `count` instructions whose results are in `memory`, or in the
// chain.
FUNCTION void runChain(Team t, const Frame& f, const Instr* list, int count, double* memory) {
    Chain& chain = *(Chain*)scratch();
    int abreast = list[0].width, size = list[0].size, cols = list[0].cols, strands = list[0].rowStep;
    barrier(); // nobody needs what was there
    for (int k = threadOfBlock(); k < 4 * count; k += blockThreads) {
        setLink(chain.links[k / 4], k % 4, f, list[k / 4], chain.slots, abreast, memory);
        if (k < strands) chain.strands[k] = Strand{list[k].into, list[k].colStep};
    }
    barrier();
    if (strands > 0) return runStrands(t, f, chain, size, strands);
    Strand all = {0, count};
    if (cols > 0) runElements<ofTilesAbreast>(ofTiles(t, f, size), f, chain, all);
    else if (abreast == 4) runElements<4>(inTurn(t, size, f.n), f, chain, all);
    else if (abreast == 2) runElements<2>(inTurn(t, size, f.n), f, chain, all);
    else runElements<1>(inTurn(t, size, f.n), f, chain, all);
}
