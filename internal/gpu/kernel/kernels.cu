// The kernels.
#include "step.h"

// globals runs the part of a tape that depends on parameters only.
DEVICE void globals(const Arguments& a, int member, int blocks) {
    if (a.noiseKeys && member == 0 && threadOfBlock() == 0) expandKey(a.noiseKeys);
    execute(groupTeam(Group{a.waiting, blocks, member}), globalFrame(a, 0), a.global, a.globalCount, a.globals);
}
KERNEL(d3p_globals, Arguments, globals)

// records adds the chunks of this part of the batch to their slots: each block
// those of one, or all blocks together those of the only one.
DEVICE void records(const Arguments& a, int block, int blocks) {
    Team t = a.wide ? groupTeam(Group{a.waiting, blocks, block}) : blockTeam();
    int slot = a.wide ? 0 : block;
    Batch part = {a.batch, a.first, a.size, a.chunk, a.slots};
    addToSlot(t, a, part, slot, a.clipNorm, a.fresh);
}
KERNEL(d3p_records, Arguments, records)

// finish adds up the slots; nobody waits.
DEVICE void finish(const Arguments& a, int block, int blocks) {
    addSlots(groupTeam(Group{0, blocks, block}), a, a.slots, a.sum, a.count);
}
KERNEL(d3p_finish, Arguments, finish)

// steps runs many steps for each of several fits.
DEVICE void steps(const Runs& runs, int block, int) { runSteps(runs, block); }
KERNEL(d3p_steps, Runs, steps)

// elements evaluates an element-wise operation at n points, and nobody waits; for tests.
struct Elements {
    const double *x, *y, *z;
    double* to;
    int op, n;
};

DEVICE void elements(const Elements& e, int block, int blocks) {
    each(groupTeam(Group{0, blocks, block}), e.n, 1, [&](int i, int) { e.to[i] = evaluate(e.op, e.x[i], e.y[i], e.z[i]); });
}
KERNEL(d3p_elements, Elements, elements)
