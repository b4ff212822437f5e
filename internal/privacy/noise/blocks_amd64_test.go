//go:build !purego

package noise

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Every level of instructions gives the bytes of crypto/aes, for every number
// of blocks and across carries of the counter.
func TestInstructionLevelsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for use := aesni; use <= available(); use++ {
		for n := range 70 {
			key := make([]byte, 32)
			for i := range key {
				key[i] = byte(rng.Uint32())
			}
			b := newBlocks(key)
			b.fast.use = use
			for _, low := range []uint64{0, rng.Uint64(), 1<<32 - 5, 1<<64 - 80} {
				high := rng.Uint64()
				want, got := make([]byte, n*blockSize), make([]byte, n*blockSize+1)
				got[n*blockSize] = 7
				b.portable(want, high, low)
				if !b.fast.keystream(got[:n*blockSize], high, low) {
					t.Fatalf("level %d is not used", use)
				}
				if !bytes.Equal(got[:n*blockSize], want) || got[n*blockSize] != 7 {
					t.Fatalf("level %d, %d blocks from %#x: wrong key stream", use, n, low)
				}
			}
		}
	}
}

func BenchmarkKeystream(b *testing.B) {
	for use := none; use <= available(); use++ {
		b.Run([]string{"portable", "aesni", "vaes"}[use], func(b *testing.B) {
			c := newBlocks(make([]byte, 32))
			c.fast.use = use
			dst := make([]byte, 8192)
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				c.keystream(dst, 1, 2)
			}
		})
	}
}
