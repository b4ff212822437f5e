// Many steps in one launch: the parameters of a fit, its batches' sums, noise and
// what the analyst makes of them never leave the device in between. What the
// analyst does is given as tapes of global instructions:
//
//   propose  state, inputs -> parameters θ of the likelihood
//   prior    θ -> its gradient
//   absorb   state, (inputs, noisy sum, noisy count, prior gradient) -> next state
#pragma once
#include "network.h"
#include "noise.h"
#include "slots.h"

// Why a run ended before its last step; the steps before it are done. After
// uncertainNoise the host adds what is unresolved and the run resumes there.
enum { goesOn, uncertainNoise, clipNormOutOfRange, notFinite };
enum { mostUnresolved = 64 };

// A Run is one fit's steps. One group of blocks works on it; block 0 does what
// is not about records. What propose computes first are the parameters θ, and what
// absorb computes first is the next state: two memories for it take turns.
struct Run {
    Arguments tape, propose, prior, absorb;
    double* state;         // before the first step, and after the last one
    double *now, *next;    // before a step, and after it
    double* aux;           // inputs, noisy sum, noisy count, prior gradient, normals of sum and count
    double* kept;          // [steps × keptCount]: the first numbers of each state
    const double* inputs;  // [steps × inputCount]
    const u64* words;      // [steps × wordCount]: of the sum's noise, then the count's
    u32* keys;             // round keys that the sum's words come of instead; null: none
    u64 firstStep;         // number of the first step
    const i64* offsets;    // of batches in places, steps+1; of a network, for their sizes; null: every record
    u32* places;
    Network network;       // makes the places of each step; without keys they are given
    i64 records;           // of the table
    int* status;           // steps done, why it ended, how many are unresolved, a state is not finite
    int* unresolved;       // quarters of the sum (addGaussians) whose noise the host adds; -1: the count
    double gradientNoise;  // z, in units of the clip norm
    double widened;        // factor of the noise for rounding
    double countNoise;     // σ_b; 0: no count
    double countTarget;    // γ
    const double* one;     // the factor 1
    int steps, stateCount, inputCount, wordCount, clipNormAt, keptCount, resumes;
    int direct; // the parameters are the first numbers of the state: nothing is proposed
    int first; // steps that were done before this launch
    int early; // of absorb's instructions: they need neither the noisy sum nor the noisy count
};

static_assert(sizeof(Run) == 1536, "as on the Go side");

DEVICE bool ended(const Run& r) { return peek(&r.status[1]) != goesOn; }

struct Runs {
    const Run* runs;
    int blocks; // of one group
};

// chunkOf and slotsOf are those of internal/gpu/layout.go.
DEVICE int chunkOf(const Arguments& a, i64 size) {
    u32 units = (((u32)size + 127) / 128 + 31) / 32;
    int chunk = a.wide ? a.wide : units < 1 ? 32 : units > 32 ? 1024 : (int)units * 32;
    return a.longest < chunk ? a.longest : chunk;
}

DEVICE int slotsOf(const Arguments& a, i64 size, int chunk) {
    u32 chunks = ((u32)size + chunk - 1) / chunk, most = (256u << 20) / 8 / ((u32)a.lanesPerRecord * chunk + a.parameterCount + 1);
    if (most > 256) most = 256;
    if (most > chunks) most = chunks;
    return most < 1 ? 1 : (int)most;
}

// Places are those of a step's batch: records [from, to) of the list, or of the table.
struct Places {
    i64 from, to;
};

DEVICE Places placesOf(const Run& r, int step) { return r.offsets ? Places{r.offsets[step], r.offsets[step + 1]} : Places{0, r.records}; }

DEVICE Batch batchOf(const Run& r, Places p) {
    Batch b = {0, 0, p.to - p.from, 0, 0};
    if (r.offsets) b.places = r.network.keys ? r.places : r.places + p.from;
    b.chunk = chunkOf(r.tape, b.size);
    b.slots = r.tape.wide ? 1 : slotsOf(r.tape, b.size, b.chunk);
    return b;
}
