// The kernels.
#include "run.h"

// globals runs the part of a tape that depends on parameters only.
DEVICE void globals(const Arguments& a, int, int) {
    execute(team(), Frame{&a, 0, 0, 0, 1, 0}, a.global, a.globalCount, a.globals);
}
KERNEL(d3p_globals, Arguments, globals)

// records adds the chunks of this part of the batch to their slots.
DEVICE void records(const Arguments& a, int slot, int) {
    if (a.fresh) clearSlot(team(), a, slot);
    Batch part = {a.batch, a.first, a.size, a.chunk, a.slots};
    addToSlot(team(), a, part, slot, a.clipNorm);
}
KERNEL(d3p_records, Arguments, records)

// finish adds up the slots.
DEVICE void finish(const Arguments& a, int block, int blocks) {
    Team t = team();
    addSlots(Team{block * t.size + t.rank, blocks * t.size}, a, a.slots, a.sum, a.count);
}
KERNEL(d3p_finish, Arguments, finish)

// steps runs many steps for each of several fits.
DEVICE void steps(const Runs& runs, int block, int) { runSteps(team(), runs, block); }
KERNEL(d3p_steps, Runs, steps)

// elements evaluates an element-wise operation at n points; for tests.
struct Elements {
    const double *x, *y, *z;
    double* to;
    int op, n;
};

DEVICE void elements(const Elements& e, int block, int blocks) {
    Team t = team();
    Team grid = {block * t.size + t.rank, blocks * t.size};
    each(grid, e.n, 1, [&](int i, int) { e.to[i] = evaluate(e.op, e.x[i], e.y[i], e.z[i]); });
}
KERNEL(d3p_elements, Elements, elements)
