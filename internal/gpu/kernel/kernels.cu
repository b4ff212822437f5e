// The kernels.
#include "step.h"

// globals runs the part of a tape that depends on parameters only.
DEVICE void globals(const Arguments& a, int member, int blocks) {
    Group group = {a.waiting, (u32)blocks};
    execute(groupTeam(group, member), globalFrame(a, 0), a.global, a.globalCount, a.globals);
}
KERNEL(d3p_globals, Arguments, globals)

// records adds the chunks of this part of the batch to their slots: each block
// those of one, or all blocks together those of the only one.
DEVICE void records(const Arguments& a, int block, int blocks) {
    Group group = {a.waiting, (u32)blocks};
    Team t = a.wide ? groupTeam(group, block) : blockTeam();
    int slot = a.wide ? 0 : block;
    Batch part = {a.batch, a.first, a.size, a.chunk, a.slots, a.drawn};
    addToSlot(t, a, part, slot, a.clipNorm, a.fresh);
}
KERNEL(d3p_records, Arguments, records)

// finish adds up the slots.
DEVICE void finish(const Arguments& a, int block, int blocks) {
    Group group = {0, (u32)blocks}; // nobody waits
    addSlots(groupTeam(group, block), a, a.slots, a.sum, a.count);
}
KERNEL(d3p_finish, Arguments, finish)

// steps runs many steps for each of several fits.
DEVICE void steps(const Runs& runs, int block, int) { runSteps(runs, block); }
KERNEL(d3p_steps, Runs, steps)

// elements evaluates an element-wise operation at n points; for tests.
struct Elements {
    const double *x, *y, *z;
    double* to;
    int op, n;
};

DEVICE void elements(const Elements& e, int block, int blocks) {
    Group group = {0, (u32)blocks}; // nobody waits
    each(groupTeam(group, block), e.n, 1, [&](int i, int) { e.to[i] = evaluate(e.op, e.x[i], e.y[i], e.z[i]); });
}
KERNEL(d3p_elements, Elements, elements)
