// What a step of a run does besides the records. Between two barriers a thread may
// go on with numbers of its own: in vectors of P it is number i of all of them that
// is the same thread's (each).
#pragma once
#include "local.h"

// placeSlot finds the places of a slot's records by the network.
DEVICE void placeSlot(Team t, const Run& r, const Batch& batch, int slot) {
    for (i64 chunk = slot; chunk * batch.chunk < batch.size; chunk += batch.slots) {
        i64 first = chunk * batch.chunk, left = batch.size - first;
        each(t, (int)(left < batch.chunk ? left : batch.chunk), 1, [&](int i, int) { r.places[first + i] = imageOf(r.network, (u32)(first + i), r.records); });
    }
    t.sync();
}

// begin states where a step finds what it needs, after the last one was `taken`.
DEVICE void begin(Run& r, int step, bool taken) {
    barrier();
    if (threadOfBlock() == 0) {
        if (taken) {
            double* last = r.now;
            r.now = r.next;
            r.next = last;
        }
        r.propose.parameters = r.absorb.parameters = r.now;
        r.propose.aux = r.inputs + (i64)step * r.inputCount;
        r.absorb.globals = r.next;
        r.tape.step = r.firstStep + step;
        if (r.direct) r.tape.parameters = r.prior.parameters = r.now;
    }
    barrier();
}

DEVICE void runGlobal(Team t, const Arguments& a, int* notFinite) { execute(t, globalFrame(a, notFinite), a.global, a.globalCount, a.globals); }

// proposeStep sets the parameters of the likelihood; a barrier has to follow.
DEVICE void proposeStep(Team t, const Run& r) {
    if (!r.direct) runGlobal(t, r.propose, 0);
    if (r.tape.globalCount > 0) {
        t.sync();
        runGlobal(t, r.tape, 0);
    }
}

// confined is privacy.confine.
DEVICE double confined(double x, double clipNorm) {
    double most = 0x1p32 * clipNorm;
    return x >= -most && x <= most ? x : 0;
}

// leave hands a quarter of the sum's noise, or the count's, to the host.
DEVICE void leave(const Run& r, int quarter) {
    int at = next(&r.status[2]);
    if (at < mostUnresolved) r.unresolved[at] = quarter;
    put(&r.status[1], (int)uncertainNoise);
}

// addPrior leaves the prior's gradient in aux, which has zeros there if there is no
// prior; a barrier has to follow.
DEVICE void addPrior(Team t, const Run& r) {
    int P = r.tape.parameterCount;
    if (r.prior.termCount == 0) return;
    double* gradient = r.aux + r.inputCount + P + 1;
    each(t, P, 1, [&](int i, int) { gradient[i] = 0; });
    runGlobal(t, r.prior, 0);
    t.sync();
    Frame f = globalFrame(r.prior, 0);
    f.lanes = r.prior.globals;
    addTerms(t, f, r.one, gradient, false);
}

// quarters is how many quarters the noise of n numbers has.
DEVICE int quarters(int n) { return (n + normalGroup - 1) / normalGroup * 4; }

DEVICE WordSource wordsOf(const Run& r, int step) { return WordSource{r.words + (i64)step * r.wordCount, r.keys != 0, r.firstStep + step}; }

DEVICE double* normalsOf(const Run& r) { return r.aux + r.inputCount + 2 * r.tape.parameterCount + 1; }

// anticipate does what a step needs of no record: it leaves the inputs and the prior's
// gradient in aux, and behind them normals of words that the host gives, and begins the next
// state.
DEVICE void anticipate(Team t, const Run& r, int step) {
    int P = r.tape.parameterCount;
    double* normals = normalsOf(r);
    each(t, r.inputCount, 1, [&](int i, int) { r.aux[i] = r.inputs[(i64)step * r.inputCount + i]; });
    each(t, quarters(P) + 1, 1, [&](int quarter, int) {
        double z[2][2];
        if (quarter < quarters(P)) {
            if (r.keys) return;
            drawQuarter(firstOfQuarter(quarter), wordsOf(r, step), z);
            eachOfQuarter(quarter, P, [&](int i, int k, int number) { normals[number] = z[k][i]; });
        } else if (r.countNoise != 0) {
            drawQuarter(0, WordSource{r.words + (i64)(step + 1) * r.wordCount - normalGroup, false, 0}, z);
            normals[P] = z[0][0];
        }
    });
    addPrior(t, r);
    t.sync();
    execute(t, globalFrame(r.absorb, &r.status[3]), r.absorb.global, r.early, r.absorb.globals);
}

// release leaves the noisy sum and the noisy count in aux; a barrier has to follow.
DEVICE void release(Team t, const Run& r, int step, const Batch& batch, double clipNorm) {
    int P = r.tape.parameterCount;
    double *sum = r.aux + r.inputCount, *count = sum + P;
    const double *partial = r.tape.partial, *normals = normalsOf(r);
    bool several = batch.slots > 1; // then more threads read them than those that add noise
    if (several) sumSlots(t, r.tape, batch.slots, sum);
    if (r.keys) openCipher(r.keys);
    if (several) t.sync();
    else barrier();
    each(t, quarters(P), 1, [&](int quarter, int) {
        double z[2][2];
        if (r.keys) drawQuarter(firstOfQuarter(quarter), wordsOf(r, step), z);
        else eachOfQuarter(quarter, P, [&](int i, int k, int number) { z[k][i] = normals[number]; });
        bool certain = addGaussians(sum, P, quarter, z, r.gradientNoise * clipNorm * r.widened,
                                    [&](int i) { return confined(several ? sum[i] : 0 + partial[i], clipNorm); });
        if (!certain) leave(r, quarter);
    });
    eachWarp(t, 1, [&](int) {
        double within = countOfSlots(r.tape, batch.slots);
        if (!firstOfWarp()) return;
        *count = 0;
        if (r.countNoise == 0) return;
        double exact = confined(within + (0.5 - r.countTarget) * (double)batch.size, 1), z[2][2] = {{normals[P]}};
        if (!addGaussians(count, 1, 0, z, r.countNoise * r.widened, [&](int) { return exact; })) leave(r, -1);
    });
}

// absorbStep makes the next state and reports whether it is finite.
DEVICE bool absorbStep(Team t, const Run& r, int step) {
    execute(t, globalFrame(r.absorb, &r.status[3]), r.absorb.global + r.early, r.absorb.globalCount - r.early, r.absorb.globals);
    t.sync();
    bool finite = peek(&r.status[3]) == 0;
    if (finite) each(t, r.keptCount, 1, [&](int i, int) { r.kept[(i64)step * r.keptCount + i] = r.next[i]; });
    if (t.rank != 0) return finite;
    if (finite) r.status[0] = step + 1;
    else put(&r.status[1], (int)notFinite);
    return finite;
}

DEVICE void copyState(Team t, const Run& r, double* to, const double* from) {
    each(t, r.stateCount, 1, [&](int i, int) { to[i] = from[i]; });
}

// runSteps takes the steps of the block's run.
DEVICE void runSteps(const Runs& runs, int block) {
    int member = block % runs.blocks;
    Run& r = localRun(runs.runs[block / runs.blocks], member == runs.blocks - 1);
    Group group = {r.tape.waiting, runs.blocks, member};
    bool wide = r.tape.wide > 0;
    Team t = wide ? groupTeam(group) : blockTeam();
    bool leads = wide || member == runs.blocks - 1; // does what is not about records: may have none
    if (leads && t.rank == 0) {
        u32* keys[] = {r.keys, r.network.keys, r.tape.noiseKeys};
        for (u32* k : keys)
            if (k) expandKey(k);
    }
    if (leads) copyState(t, r, r.now, r.state);
    if (leads && t.rank == 0) {
        r.status[0] = r.first;
        for (int k = 1; k < 4; k++) r.status[k] = 0;
    }
    group.wait();
    bool taken = false, goes = true;
    for (int step = r.first; step < r.steps; step++) {
        begin(r, step, taken);
        Places places = placesOf(r, step); // it is there before all have come
        taken = false;
        bool resumes = r.resumes && step == r.first; // then the noise is added
        if (resumes && leads) anticipate(t, r, step);
        if (!resumes) {
            if (r.network.keys) makeTables(groupTeam(group), r.network, r.firstStep + step);
            if (leads && goes) proposeStep(t, r);
            if (!wide || !r.direct || r.network.keys) group.wait();
            double clipNorm = r.now[r.clipNormAt];
            if (ended(r)) break;
            if (!(clipNorm >= 1e-100 && clipNorm <= 1e100)) {
                if (leads && t.rank == 0) put(&r.status[1], (int)clipNormOutOfRange);
                break;
            }
            Batch batch = batchOf(r, places);
            if (leads && !wide) anticipate(t, r, step);
            for (int slot = wide ? 0 : member; slot < batch.slots; slot += runs.blocks) {
                if (r.network.keys) placeSlot(t, r, batch, slot);
                addToSlot(t, r.tape, batch, slot, clipNorm, true);
            }
            group.wait();
            if (leads) {
                if (wide) anticipate(t, r, step);
                release(t, r, step, batch, clipNorm);
                t.sync();
                goes = !ended(r);
                if (!goes) continue; // others wait
            }
        }
        taken = goes = !leads || absorbStep(t, r, step);
        if (!taken && wide) break;
    }
    if (leads) copyState(t, r, r.state, taken ? r.next : r.now);
}
