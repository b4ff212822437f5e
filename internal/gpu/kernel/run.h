// Many steps in one launch: the parameters of a fit, its batches' sums, noise and
// what the analyst makes of them never leave the device in between. What the
// analyst does is given as tapes of global instructions:
//
//   propose  state, inputs -> parameters θ of the likelihood
//   prior    θ -> its gradient
//   absorb   state, (inputs, noisy sum, noisy count, prior gradient) -> next state
#pragma once
#include "noise.h"
#include "slots.h"

// An Output copies `size` elements of an operand to place `to`.
struct Output {
    Operand from;
    int size, to;
};

// Why a run ended before its last step; the steps before it are done. After
// uncertainNoise the host adds what is unresolved and the run resumes there.
enum { goesOn, uncertainNoise, clipNormOutOfRange, notFinite };
enum { mostUnresolved = 64 };

// A Run is one fit's steps. One group of blocks works on it; block 0 does what
// is not about records.
struct Run {
    Arguments tape, propose, prior, absorb;
    const Output *proposed, *absorbed;
    double *state, *next;
    double* aux;           // inputs, noisy sum, noisy count, prior gradient
    double* kept;          // [steps × keptCount]: the first numbers of each state
    const double* inputs;  // [steps × inputCount]
    const u64* words;      // [steps × wordCount]: of the sum's noise, then the count's
    const u32* key;        // 8 words that the sum's words come of instead; null: none
    u32* roundKeys;
    u64 firstStep;         // number of the first step
    const double* drawn;   // noise of the records of all batches
    const i64* offsets;    // of batches in places, steps+1; null: every record
    const u32* places;
    i64 records;           // of the table
    int* status;           // steps done, why it ended, how many are unresolved
    int* unresolved;       // quarters of the sum (addGaussians) whose noise the host adds; -1: the count
    double gradientNoise;  // z, in units of the clip norm
    double widened;        // factor of the noise for rounding
    double countNoise;     // σ_b; 0: no count
    double countTarget;    // γ
    const double* one;     // the factor 1
    int steps, stateCount, inputCount, wordCount, proposedCount, absorbedCount, clipNormAt, keptCount, resumes, unused;
};

static_assert(sizeof(Output) == 24 && sizeof(Run) == 1368, "as on the Go side");

DEVICE bool ended(const Run& r) { return peek(&r.status[1]) != goesOn; }

struct Runs {
    const Run* runs;
    int blocks; // of one group
};

// chunkOf and slotsOf are those of internal/gpu/layout.go.
DEVICE int chunkOf(const Arguments& a, i64 size) {
    i64 units = ((size + 127) / 128 + 31) / 32;
    int chunk = a.wide ? a.wide : units < 1 ? 32 : units > 8 ? 256 : (int)units * 32;
    return a.together > 0 && a.together < chunk ? a.together : chunk;
}

DEVICE int slotsOf(const Arguments& a, i64 size, int chunk) {
    i64 chunks = (size + chunk - 1) / chunk, most = (256 << 20) / (8 * ((i64)a.lanesPerRecord * chunk + a.parameterCount + 1));
    if (most > 1024) most = 1024;
    if (most > chunks) most = chunks;
    return most < 1 ? 1 : (int)most;
}

DEVICE Batch batchOf(const Run& r, int step) {
    Batch b = {0, 0, r.records, 0, 0, 0};
    if (r.offsets) {
        b.places = r.places + r.offsets[step];
        b.size = r.offsets[step + 1] - r.offsets[step];
    }
    b.drawn = r.drawn + (r.offsets ? r.offsets[step] : step * r.records) * r.tape.drawnCount;
    b.chunk = chunkOf(r.tape, b.size);
    b.slots = r.tape.wide ? 1 : slotsOf(r.tape, b.size, b.chunk);
    return b;
}

// Between two barriers a thread may go on with numbers of its own: in vectors of P
// it is number i of all of them that is the same thread's (each).

DEVICE void runGlobal(Team t, const Arguments& a) { execute(t, Frame{&a, 0, 0, 0, 1, 0, 0}, a.global, a.globalCount, a.globals); }

// eachOutput calls f(i, x) for number i of the outputs of a tape.
template <class F> DEVICE void eachOutput(Team t, const Arguments& a, const Output* list, int count, F f) {
    Frame frame = {&a, 0, 0, 0, 1, 0, 0};
    for (int k = 0; k < count; k++) {
        View x = view(frame, list[k].from);
        each(t, list[k].size, 1, [&](int i, int) { f(list[k].to + i, x.at(i, 0)); });
    }
}

// proposeStep sets the parameters of the likelihood; a barrier has to follow.
DEVICE void proposeStep(Team t, const Run& r, int step) {
    each(t, r.inputCount, 1, [&](int i, int) { r.aux[i] = r.inputs[(i64)step * r.inputCount + i]; });
    t.sync();
    runGlobal(t, r.propose);
    double* parameters = (double*)r.tape.parameters;
    eachOutput(t, r.propose, r.proposed, r.proposedCount, [&](int i, double x) { parameters[i] = x; });
    if (r.tape.globalCount > 0) {
        t.sync();
        runGlobal(t, r.tape);
    }
    double c = r.state[r.clipNormAt];
    if (t.rank == 0 && !(c >= 1e-100 && c <= 1e100)) put(&r.status[1], (int)clipNormOutOfRange);
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

// release leaves the noisy sum and count in aux.
DEVICE void release(Team t, const Run& r, int step, const Batch& batch) {
    int P = r.tape.parameterCount;
    double *sum = r.aux + r.inputCount, *count = sum + P;
    addSlots(t, r.tape, batch.slots, sum, count);
    double clipNorm = r.state[r.clipNormAt];
    each(t, P, 1, [&](int i, int) { sum[i] = confined(sum[i], clipNorm); });
    WordSource words = {r.words + (i64)step * r.wordCount, r.key ? openCipher(r.roundKeys) : Cipher{}, r.firstStep + step};
    t.sync();
    each(t, (P + normalGroup - 1) / normalGroup * 4, 1, [&](int quarter, int) {
        if (!addGaussians(sum, P, quarter, words, r.gradientNoise * clipNorm * r.widened)) leave(r, quarter);
    });
    if (t.rank == 0) {
        if (r.countNoise == 0) {
            *count = 0;
        } else {
            *count = confined(*count + (0.5 - r.countTarget) * (double)batch.size, 1);
            if (!addGaussians(count, 1, 0, WordSource{words.words + r.wordCount - normalGroup, Cipher{}, 0}, r.countNoise * r.widened)) leave(r, -1);
        }
    }
    t.sync();
}

// absorbStep makes the next state; a barrier has to follow.
DEVICE void absorbStep(Team t, const Run& r, int step) {
    int P = r.tape.parameterCount;
    double* gradient = r.aux + r.inputCount + P + 1;
    each(t, P, 1, [&](int i, int) { gradient[i] = 0; });
    runGlobal(t, r.prior);
    addTerms(t, Frame{&r.prior, r.prior.globals, 0, 0, 1, 0, 0}, r.one, gradient);
    t.sync();
    runGlobal(t, r.absorb);
    eachOutput(t, r.absorb, r.absorbed, r.absorbedCount, [&](int i, double x) {
        r.next[i] = x;
        if (!isFinite(x)) put(&r.status[1], (int)notFinite);
    });
    t.sync();
    if (ended(r)) return;
    each(t, r.stateCount, 1, [&](int i, int) {
        r.state[i] = r.next[i];
        if (i < r.keptCount) r.kept[(i64)step * r.keptCount + i] = r.next[i];
    });
    if (t.rank == 0) r.status[0] = step + 1;
}

DEVICE void runSteps(const Runs& runs, int block) {
    const Run& r = runs.runs[block / runs.blocks];
    int member = block % runs.blocks;
    Group group = {r.tape.waiting, (u32)runs.blocks};
    bool wide = r.tape.wide > 0;
    Team t = wide ? groupTeam(group, member) : blockTeam();
    bool leads = wide || member == 0; // does what is not about records
    if (r.key && member == 0 && t.rank == 0) expandKey(r.roundKeys, r.key);
    for (int first = r.status[0], step = first; step < r.steps; step++) {
        if (r.resumes && step == first) { // the noise is added
            group.wait();
            if (leads) absorbStep(t, r, step);
            continue;
        }
        if (leads && !ended(r)) proposeStep(t, r, step);
        group.wait();
        if (ended(r)) return;
        Batch batch = batchOf(r, step);
        double clipNorm = r.state[r.clipNormAt];
        for (int slot = wide ? 0 : member; slot < batch.slots; slot += runs.blocks) {
            clearSlot(t, r.tape, slot);
            addToSlot(t, r.tape, batch, slot, clipNorm);
        }
        group.wait();
        if (!leads) continue;
        release(t, r, step, batch);
        if (!ended(r)) absorbStep(t, r, step);
    }
}
