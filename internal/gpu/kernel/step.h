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

// release leaves the inputs, the noisy sum and the noisy count in aux; a barrier has
// to follow.
DEVICE void release(Team t, const Run& r, int step, const Batch& batch, double clipNorm) {
    int P = r.tape.parameterCount;
    double *sum = r.aux + r.inputCount, *count = sum + P;
    const double* partial = r.tape.partial;
    each(t, r.inputCount, 1, [&](int i, int) { r.aux[i] = r.inputs[(i64)step * r.inputCount + i]; });
    bool several = batch.slots > 1; // then more threads read them than those that add noise
    if (several) sumSlots(t, r.tape, batch.slots, sum);
    if (r.keys) openCipher(r.keys);
    if (several) t.sync();
    else barrier();
    const u64* words = r.words + (i64)step * r.wordCount;
    each(t, (P + normalGroup - 1) / normalGroup * 4, 1, [&](int quarter, int) {
        bool certain = addGaussians(sum, P, quarter, WordSource{words, r.keys != 0, r.firstStep + step}, r.gradientNoise * clipNorm * r.widened,
                                    [&](int i) { return confined(several ? sum[i] : 0 + partial[i], clipNorm); });
        if (!certain) leave(r, quarter);
    });
    eachWarp(t, 1, [&](int) {
        double within = countOfSlots(r.tape, batch.slots);
        if (!firstOfWarp()) return;
        *count = 0;
        if (r.countNoise == 0) return;
        double exact = confined(within + (0.5 - r.countTarget) * (double)batch.size, 1);
        WordSource ofCount = {words + r.wordCount - normalGroup, false, 0};
        if (!addGaussians(count, 1, 0, ofCount, r.countNoise * r.widened, [&](int) { return exact; })) leave(r, -1);
    });
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

// absorbStep makes the next state and reports whether it is finite.
DEVICE bool absorbStep(Team t, const Run& r, int step) {
    runGlobal(t, r.absorb, &r.status[3]);
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
    Run& r = localRun(runs.runs[block / runs.blocks]);
    int member = block % runs.blocks;
    Group group = {r.tape.waiting, runs.blocks, member};
    bool wide = r.tape.wide > 0;
    Team t = wide ? groupTeam(group) : blockTeam();
    bool leads = wide || member == 0; // does what is not about records
    if (member == 0 && t.rank == 0) {
        u32* keys[] = {r.keys, r.network.keys, r.tape.noiseKeys};
        for (u32* k : keys)
            if (k) expandKey(k);
    }
    if (leads) copyState(t, r, r.now, r.state);
    if (member == 0 && t.rank == 0) {
        r.status[0] = r.first;
        for (int k = 1; k < 4; k++) r.status[k] = 0;
    }
    group.wait();
    bool taken = false;
    for (int step = r.first; step < r.steps; step++) {
        begin(r, step, taken);
        taken = false;
        if (!r.resumes || step > r.first) { // else the noise is added
            if (r.network.keys) makeTables(groupTeam(group), r.network, r.firstStep + step);
            if (leads && !ended(r)) proposeStep(t, r);
            if (!wide || !r.direct || r.network.keys) group.wait();
            double clipNorm = r.now[r.clipNormAt];
            if (ended(r)) break;
            if (!(clipNorm >= 1e-100 && clipNorm <= 1e100)) {
                if (leads && t.rank == 0) put(&r.status[1], (int)clipNormOutOfRange);
                break;
            }
            Batch batch = batchOf(r, step);
            bool apart = !wide && runs.blocks > batch.slots; // the last block has no records
            if (apart && member == runs.blocks - 1) addPrior(t, r);
            for (int slot = wide ? 0 : member; slot < batch.slots; slot += runs.blocks) {
                if (r.network.keys) placeSlot(t, r, batch, slot);
                addToSlot(t, r.tape, batch, slot, clipNorm, true);
            }
            group.wait();
            if (leads) {
                if (!apart) addPrior(t, r);
                release(t, r, step, batch, clipNorm);
                t.sync();
                if (ended(r)) continue; // others wait
            }
        }
        taken = !leads || absorbStep(t, r, step);
        if (!taken && wide) break;
    }
    if (leads) copyState(t, r, r.state, taken ? r.next : r.now);
}
