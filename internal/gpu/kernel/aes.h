// AES-256 in counter mode, as package privacy/noise has it: the counter block is
// the step and the block within the step, both 64 bits, big-endian. FIPS 197;
// columns are words in little-endian order.
#pragma once
#include "scratch.h"

CONSTANT u8 aesBox[256] = {
    0x63, 0x7c, 0x77, 0x7b, 0xf2, 0x6b, 0x6f, 0xc5, 0x30, 0x01, 0x67, 0x2b, 0xfe, 0xd7, 0xab, 0x76,
    0xca, 0x82, 0xc9, 0x7d, 0xfa, 0x59, 0x47, 0xf0, 0xad, 0xd4, 0xa2, 0xaf, 0x9c, 0xa4, 0x72, 0xc0,
    0xb7, 0xfd, 0x93, 0x26, 0x36, 0x3f, 0xf7, 0xcc, 0x34, 0xa5, 0xe5, 0xf1, 0x71, 0xd8, 0x31, 0x15,
    0x04, 0xc7, 0x23, 0xc3, 0x18, 0x96, 0x05, 0x9a, 0x07, 0x12, 0x80, 0xe2, 0xeb, 0x27, 0xb2, 0x75,
    0x09, 0x83, 0x2c, 0x1a, 0x1b, 0x6e, 0x5a, 0xa0, 0x52, 0x3b, 0xd6, 0xb3, 0x29, 0xe3, 0x2f, 0x84,
    0x53, 0xd1, 0x00, 0xed, 0x20, 0xfc, 0xb1, 0x5b, 0x6a, 0xcb, 0xbe, 0x39, 0x4a, 0x4c, 0x58, 0xcf,
    0xd0, 0xef, 0xaa, 0xfb, 0x43, 0x4d, 0x33, 0x85, 0x45, 0xf9, 0x02, 0x7f, 0x50, 0x3c, 0x9f, 0xa8,
    0x51, 0xa3, 0x40, 0x8f, 0x92, 0x9d, 0x38, 0xf5, 0xbc, 0xb6, 0xda, 0x21, 0x10, 0xff, 0xf3, 0xd2,
    0xcd, 0x0c, 0x13, 0xec, 0x5f, 0x97, 0x44, 0x17, 0xc4, 0xa7, 0x7e, 0x3d, 0x64, 0x5d, 0x19, 0x73,
    0x60, 0x81, 0x4f, 0xdc, 0x22, 0x2a, 0x90, 0x88, 0x46, 0xee, 0xb8, 0x14, 0xde, 0x5e, 0x0b, 0xdb,
    0xe0, 0x32, 0x3a, 0x0a, 0x49, 0x06, 0x24, 0x5c, 0xc2, 0xd3, 0xac, 0x62, 0x91, 0x95, 0xe4, 0x79,
    0xe7, 0xc8, 0x37, 0x6d, 0x8d, 0xd5, 0x4e, 0xa9, 0x6c, 0x56, 0xf4, 0xea, 0x65, 0x7a, 0xae, 0x08,
    0xba, 0x78, 0x25, 0x2e, 0x1c, 0xa6, 0xb4, 0xc6, 0xe8, 0xdd, 0x74, 0x1f, 0x4b, 0xbd, 0x8b, 0x8a,
    0x70, 0x3e, 0xb5, 0x66, 0x48, 0x03, 0xf6, 0x0e, 0x61, 0x35, 0x57, 0xb9, 0x86, 0xc1, 0x1d, 0x9e,
    0xe1, 0xf8, 0x98, 0x11, 0x69, 0xd9, 0x8e, 0x94, 0x9b, 0x1e, 0x87, 0xe9, 0xce, 0x55, 0x28, 0xdf,
    0x8c, 0xa1, 0x89, 0x0d, 0xbf, 0xe6, 0x42, 0x68, 0x41, 0x99, 0x2d, 0x0f, 0xb0, 0x54, 0xbb, 0x16,
};

enum { aesRounds = 14, aesKeyWords = 4 * (aesRounds + 1) };

DEVICE u32 rotated(u32 w, int bits) { return w << bits | w >> (32 - bits); }

DEVICE u32 substituted(u32 w) {
    return aesBox[w & 255] | aesBox[w >> 8 & 255] << 8 | aesBox[w >> 16 & 255] << 16 | (u32)aesBox[w >> 24] << 24;
}

// expandKey sets the round keys; the first 8 words are the key. One thread does it.
FUNCTION void expandKey(u32* keys) {
    for (int i = 8; i < aesKeyWords; i++) {
        u32 w = keys[i - 1];
        if (i % 8 == 0) w = rotated(substituted(w), 24) ^ 1u << (i / 8 - 1);
        else if (i % 8 == 4) w = substituted(w);
        keys[i] = keys[i - 8] ^ w;
    }
}

// mixed is what a byte of row 0 adds to its column.
DEVICE u32 mixed(u32 byte) {
    u32 s = aesBox[byte], twice = s << 1 ^ (s >> 7) * 0x11b;
    return twice | s << 8 | s << 16 | (twice ^ s) << 24;
}

// A Cipher is in shared memory: of every byte what it adds to its column, a copy
// for each thread of a warp, so that all of them find the banks free, and the round
// keys.
struct Cipher {
    u32 mixed[256][warpSize], keys[aesKeyWords];
};
static_assert(sizeof(Cipher) <= sizeof(Scratch), "a cipher fits");

// openCipher fills the block's shared memory with round keys; a barrier has to follow.
DEVICE void openCipher(const u32* keys) {
    Cipher& cipher = *(Cipher*)scratch();
    for (int e = threadOfBlock(); e < 256 * warpSize; e += blockThreads) cipher.mixed[e % 256][(e / 256 + e) % warpSize] = mixed(e % 256);
    for (int e = threadOfBlock(); e < aesKeyWords; e += blockThreads) cipher.keys[e] = keys[e];
}

DEVICE u32 bigEndian(u32 w) { return w >> 24 | (w >> 8 & 0xff00) | (w << 8 & 0xff0000) | w << 24; }

// lookUp finds what the bytes of column j add to it. The byte of row r comes from column
// j + r, because rows are shifted by their number.
DEVICE void lookUp(const Cipher& cipher, int lane, const u32* c, int j, u32* m) {
    UNROLL for (int row = 0; row < 4; row++) m[row] = *(const u32*)((const u8*)&cipher.mixed[0][lane] + byteOf(c[(j + row) % 4], row) * sizeof(cipher.mixed[0]));
}

// encryptCounters sets words[k] to the two words of block blocks[k] of a step's key
// stream, by the cipher in shared memory.
FUNCTION void encryptCounters(u64 step, const u64* blocks, u64 (*words)[2]) {
    enum { abreast = 2 };
    const Cipher& cipher = *(const Cipher*)scratch();
    int lane = threadOfBlock() % warpSize;
    u32 c[abreast][4];
    UNROLL for (int k = 0; k < abreast; k++) {
        u32 counter[4] = {(u32)(step >> 32), (u32)step, (u32)(blocks[k] >> 32), (u32)blocks[k]};
        UNROLL for (int j = 0; j < 4; j++) c[k][j] = bigEndian(counter[j]) ^ cipher.keys[j];
    }
    u32 m[4];
    for (int round = 1; round < aesRounds; round++) {
        u32 d[abreast][4];
        UNROLL for (int j = 0; j < 4; j++) {
            u32 key = cipher.keys[4 * round + j];
            UNROLL for (int k = 0; k < abreast; k++) {
                lookUp(cipher, lane, c[k], j, m);
                d[k][j] = key ^ m[0] ^ rotated(m[1], 8) ^ rotated(m[2], 16) ^ rotated(m[3], 24);
            }
        }
        UNROLL for (int k = 0; k < abreast; k++)
            UNROLL for (int j = 0; j < 4; j++) c[k][j] = d[k][j];
    }
    UNROLL for (int k = 0; k < abreast; k++) { // the last round has the box alone
        u32 d[4];
        UNROLL for (int j = 0; j < 4; j++) {
            lookUp(cipher, lane, c[k], j, m);
            d[j] = cipher.keys[4 * aesRounds + j] ^ ((m[0] >> 8 & 255) | (m[1] & 0xff00) | (m[2] & 0xff00) << 8 | (m[3] & 0xff00) << 16);
        }
        words[k][0] = d[0] | (u64)d[1] << 32;
        words[k][1] = d[2] | (u64)d[3] << 32;
    }
}
