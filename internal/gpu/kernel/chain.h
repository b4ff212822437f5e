// Chains of element-wise instructions, which a thread takes one element after the
// other through: internal/gpu/chains.go says which. What only the chain reads is
// kept in shared memory, a number of its own for each thread and slot.
#pragma once
#include "scratch.h"
#include "view.h"

enum { mostLinks = 64, mostSlots = 12 };

// A Place is where numbers of a link are: that of element i of record b for a
// thread of the block at i·element + b·record + thread·own.
struct Place {
    double* at;
    int element, record, own;

    DEVICE_MEMBER double* of(int i, int b) const { return at + (i * element + b * record + threadOfBlock() * own); }
};

// A Link is an instruction of a chain.
struct Link {
    Place from[3], to;
    int op, third; // third: it has three operands
};

struct Chain {
    Link links[mostLinks];
    double slots[mostSlots * blockThreads];
};
static_assert(sizeof(Chain) <= sizeof(Scratch), "a chain fits");

// placeOf is where a link finds an operand.
DEVICE Place placeOf(const Frame& f, const Operand& o, double* slots) {
    if (o.space == inSlots) return Place{slots + o.at * blockThreads, 0, 0, 1};
    View v = view(f, o);
    return Place{(double*)v.values, v.step * v.element, v.record, 0};
}

// simple is evaluate, the commonest operations without a call.
DEVICE double simple(int op, double x, double y, double z) {
    switch (op) {
    case opAdd: return x + y;
    case opSub: return x - y;
    case opMul: return x * y;
    case opNeg: return -x;
    case opCopy: return x;
    case opSquare: return x * x;
    }
    return evaluate(op, x, y, z);
}

// runChain executes `count` instructions whose results are in `memory`, or in slots.
FUNCTION void runChain(Team t, const Frame& f, const Instr* list, int count, double* memory) {
    Chain& chain = *(Chain*)scratch();
    barrier(); // nobody needs what was there
    for (int k = threadOfBlock(); k < count; k += blockThreads) {
        const Instr& in = list[k];
        Place to = {memory + (i64)in.dst * f.n, f.n, 1, 0};
        if (in.dst < 0) to = Place{chain.slots + ~in.dst * blockThreads, 0, 0, 1};
        chain.links[k] = Link{{placeOf(f, in.a, chain.slots), placeOf(f, in.b, chain.slots), placeOf(f, in.c, chain.slots)}, to,
                              in.op, in.op >= opWhere};
    }
    barrier();
    each(t, list[0].size, f.n, [&](int i, int b) {
        for (int k = 0; k < count; k++) {
            const Link& l = chain.links[k];
            double x = *l.from[0].of(i, b), y = *l.from[1].of(i, b), z = l.third ? *l.from[2].of(i, b) : 0;
            *l.to.of(i, b) = simple(l.op, x, y, z);
        }
    });
}
