// A batch as the images of 0, 1, ... under the Feistel network of a step: see package
// privacy/sampler. Its tables are a stretch of the stream of batches.
#pragma once
#include "aes.h"
#include "team.h"

struct Network {
    u32* keys;      // round keys of the stream; null: no network
    u16* tables;    // of one step, `blocks` blocks of the stream
    u64 firstBlock; // where they begin in a step of the stream
    u16 left, right; // lengths of the halves in bits
    int blocks;      // a multiple of 2
};

// makeTables makes the tables of a step; the group has to wait.
DEVICE void makeTables(Team group, const Network& n, u64 step) {
    openCipher(n.keys);
    barrier();
    each(group, n.blocks / 2, 1, [&](int i, int) {
        u64 blocks[2] = {n.firstBlock + 2 * (u64)i, n.firstBlock + 2 * (u64)i + 1}, words[2][2];
        encryptCounters(step, blocks, words);
        UNROLL for (int k = 0; k < 16; k++) n.tables[16 * (i64)i + k] = (u16)(words[k / 8][k / 4 % 2] >> k % 4 * 16);
    });
    barrier(); // the cipher's memory is used again
}

// imageOf is the image of v below `records`.
DEVICE u32 imageOf(const Network& n, u32 v, i64 records) {
    const u16* end = n.tables + 8 * (i64)n.blocks;
    u32 maskLeft = (1u << n.left) - 1, maskRight = (1u << n.right) - 1;
    do {
        u32 left = v >> n.right, right = v;
        for (const u16* even = n.tables; even < end;) {
            const u16* odd = even + maskRight + 1;
            left ^= even[right & maskRight];
            right ^= odd[left & maskLeft];
            even = odd + maskLeft + 1;
        }
        v = (left & maskLeft) << n.right | (right & maskRight);
    } while (v >= records);
    return v;
}
