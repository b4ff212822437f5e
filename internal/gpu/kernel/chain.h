// Chains of element-wise instructions, which a thread takes its elements through,
// some at a time: internal/gpu/fusion.go chooses them. What only the next instruction
// reads stays in registers, what only the chain reads in shared memory, a number of
// its own for each thread, slot and element.
#pragma once
#include "share.h"

enum { mostLinks = 96, mostSlots = 12, mostStrands = 8, ofTilesAbreast = 2, nowhere = -(1 << 30) };

// A Place is where numbers of a link are: that of element i of record b is at
// i·element + b·record.
struct Place {
    double* at;
    int element, record;
};

// What a Link's `how` (fusion.go sets it) says of operand k (k = 3: of the result): whether it
// is in a slot of the thread, or the number before it in the chain (a result: goes nowhere
// else). Then whether the link is linear, with minus, or an operation of its own.
enum {
    ofResult = 3, inSlot = 1, isPrevious = 1 << 4,
    isLinear = 1 << 8, isMinus = 1 << 9, isChecked = 1 << 10, // numbers that are not finite are told
};

// A Link is an instruction of a chain. A linear one with operands x, y and z is sign·(x·y) + z,
// rounded twice: 1 for y makes it a sum, and -0 for z, which changes no bit, a product.
struct alignas(16) Link {
    Place of[4]; // three operands and the result
    double sign;
    int op, how;
};

// A Strand is links of a chain that need nothing of the others: internal/gpu/strands.go.
struct Strand {
    int first, count;
};

struct Chain {
    Link links[mostLinks];
    Strand strands[mostStrands];
    double neutral[2];                            // 1 and -0
    double slots[(mostSlots + 1) * blockThreads]; // the last one for what goes nowhere
};
static_assert(sizeof(Chain) <= sizeof(Scratch), "a chain fits");

// At are E elements of a thread.
template <int E> struct At {
    int i[E], b[E], count; // count: of E, those that there are
};

// placeOf is where a link finds an operand; a slot has `abreast` numbers.
DEVICE Place placeOf(const Frame& f, const Operand& o, Chain& chain, int abreast) {
    bool lanes = o.space == inLanes, slot = o.space == inSlots;
    const double* base = spaceOf(f, o.space);
    base = slot ? chain.slots : o.space == inNeutral ? chain.neutral : base;
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

// A Step is a link for E elements: the numbers of its operands, where its results go, and
// the rest of the link.
template <int E> struct Step {
    double x[3][E], *to[E], sign;
    int op, how;
};

// stepOf reads the operands of a link, from its slot or not, whether they are needed or not:
// no read waits for another one, nor for a branch.
template <int E> DEVICE Step<E> stepOf(const Link& l, const At<E>& at) {
    Step<E> s;
    UNROLL for (int e = 0; e < E; e++) {
        int place[4];
        UNROLL for (int k = 0; k < 4; k++) place[k] = l.how >> k & 1;
        abreast(place);
        UNROLL for (int k = 0; k < 4; k++) place[k] *= e * blockThreads + threadOfBlock();
        abreast(place);
        UNROLL for (int k = 0; k < 4; k++) place[k] += at.b[e] * l.of[k].record;
        abreast(place);
        UNROLL for (int k = 0; k < 4; k++) place[k] += at.i[e] * l.of[k].element;
        abreast(place);
        UNROLL for (int k = 0; k < 3; k++) s.x[k][e] = l.of[k].at[place[k]];
        s.to[e] = l.of[ofResult].at + place[ofResult];
    }
    s.sign = l.sign;
    s.op = l.op;
    s.how = l.how;
    return s;
}

// apply is what an operation that is not linear makes of x, y and z; the commonest ones
// without a call of evaluate.
DEVICE double apply(int op, double x, double y, double z) {
    switch (op) {
    case opReciprocal: return 1 / x;
    case opSqrt: return squareRoot(x);
    case opExp: return exponential(x);
    }
    return evaluate(op, x, y, z);
}

// runElements takes a thread's share through a chain, E elements at a time. While a link is
// executed, the operands of the next one are read, and the link behind it: what a link makes
// is the number before of the next one, and in memory for those behind.
template <int E, class Share> FUNCTION void runElements(Share share, const Frame& f, const Chain& chain, Strand strand) {
    const Link* links = chain.links + strand.first;
    int last = strand.count - 1;
    double wrong = 0; // NaN: a checked number is not finite
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
        if (at.count == 0) break;
        double before[E] = {}, difference = 0;
        Step<E> step = stepOf(linkAt(links[0]), at);
        Link next = linkAt(links[last < 1 ? last : 1]);
        for (int k = 0; k <= last; k++) {
            Step<E> following = stepOf(next, at);
            next = linkAt(links[k + 2 < last ? k + 2 : last]);
            int isBefore[4];
            UNROLL for (int j = 0; j < 4; j++) isBefore[j] = step.how & isPrevious << j;
            abreast(isBefore);
            UNROLL for (int e = 0; e < E; e++)
                UNROLL for (int j = 0; j < 3; j++) step.x[j][e] = isBefore[j] ? before[e] : step.x[j][e];
            if (step.how & isLinear) {
                UNROLL for (int e = 0; e < E; e++) before[e] = fma(step.sign, step.x[0][e] * step.x[1][e], step.x[2][e]);
            } else {
                UNROLL for (int e = 0; e < E; e++) before[e] = apply(step.op, step.x[0][e], step.x[1][e], step.x[2][e]);
            }
            UNROLL for (int e = 0; e < E; e++) {
                if (E == 1 || ((e < at.count || step.how & inSlot << ofResult) && !(step.how & isPrevious << ofResult))) *step.to[e] = before[e];
                wrong += difference; // of the number before: it is known
                difference = step.how & isChecked ? before[e] : 0;
                difference -= difference;
            }
            step = following;
        }
        wrong += difference;
    }
    if (wrong != 0) put(f.notFinite, 1);
}

// setLink sets a part of a link: operand k, or, of part 3, the rest.
DEVICE void setLink(Chain& chain, Link& l, int k, const Frame& f, const Instr& in, int abreast, double* memory) {
    if (k < ofResult) {
        l.of[k] = placeOf(f, k == 0 ? in.a : k == 1 ? in.b : in.c, chain, abreast);
        return;
    }
    bool slot = in.count & inSlot << ofResult;
    int number = in.dst == nowhere ? mostSlots : ~in.dst * abreast;
    l.of[ofResult] = Place{slot ? chain.slots + number * blockThreads : memory + (i64)in.dst * f.n, slot ? 0 : f.n, !slot};
    l.sign = in.count & isMinus ? -1 : 1;
    l.op = in.op;
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
        setLink(chain, chain.links[k / 4], k % 4, f, list[k / 4], abreast, memory);
        if (k < strands) chain.strands[k] = Strand{list[k].into, list[k].colStep};
    }
    if (threadOfBlock() == 0) {
        chain.neutral[0] = 1;
        chain.neutral[1] = -0.0;
    }
    barrier();
    if (strands > 0) return runStrands(t, f, chain, size, strands);
    Strand all = {0, count};
    if (cols > 0) runElements<ofTilesAbreast>(ofTiles(t, f, size), f, chain, all);
    else if (abreast == 4) runElements<4>(inTurn(t, size, f.n), f, chain, all);
    else if (abreast == 2) runElements<2>(inTurn(t, size, f.n), f, chain, all);
    else runElements<1>(inTurn(t, size, f.n), f, chain, all);
}
