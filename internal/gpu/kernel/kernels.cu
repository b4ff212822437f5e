// The kernels. A batch is cut into chunks, chunk k goes to slot k mod `slots`,
// and a block runs the chunks of one slot in order: forward, backward, norms,
// factors, clipped sums. So the shape of every sum depends on the batch and the
// tape only, not on the machine, nor on how the batch is cut into parts that
// fit into memory.
#include "sums.h"

// globals runs the part of a tape that depends on parameters only.
DEVICE void globals(const Arguments& a, int, int) {
    Frame f = {&a, 0, 0, 1};
    execute(team(), f, a.global, a.globalCount, a.globals);
}
KERNEL(d3p_globals, Arguments, globals)

// records adds the chunks of this part of the batch to their slots.
DEVICE void records(const Arguments& a, int slot, int) {
    Team t = team();
    double* sum = a.partial + (i64)slot * a.parameterCount;
    if (a.fresh) {
        each(t, a.parameterCount, 1, [&](int i, int) { sum[i] = 0; });
        if (t.rank == 0) a.counts[slot] = 0;
        barrier();
    }
    Frame f = {&a, a.lanes + (i64)slot * a.lanesPerRecord * a.chunk, 0, a.chunk};
    i64 end = a.first + a.size, firstChunk = a.first / a.chunk;
    i64 chunk = firstChunk + (slot - firstChunk % a.slots + a.slots) % a.slots;
    for (; chunk * a.chunk < end; chunk += a.slots) {
        f.position = chunk * a.chunk;
        f.n = (int)(end - f.position < a.chunk ? end - f.position : a.chunk);
        loadColumns(t, f);
        execute(t, f, a.record, a.recordCount, f.lanes);
        innerProducts(t, f);
        clip(t, f);
        accumulate(t, f, sum, &a.counts[slot]);
    }
}
KERNEL(d3p_records, Arguments, records)

// finish adds up the slots.
DEVICE void finish(const Arguments& a, int block, int blocks) {
    Team t = team();
    Team grid = {block * t.size + t.rank, blocks * t.size};
    each(grid, a.parameterCount + 1, 1, [&](int i, int) {
        bool isCount = i == a.parameterCount;
        double s = 0;
        for (int slot = 0; slot < a.slots; slot++)
            s += isCount ? a.counts[slot] : a.partial[(i64)slot * a.parameterCount + i];
        *(isCount ? a.count : a.sum + i) = s;
    });
}
KERNEL(d3p_finish, Arguments, finish)

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
