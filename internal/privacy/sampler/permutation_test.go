package sampler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"d3p/internal/stattest"
)

// Every permutation is a bijection, in whatever pieces it is taken.
func TestPermutationsAreBijections(t *testing.T) {
	for _, n := range []int{1, 2, 3, 17, 1000, 65535, 65536, 65537, 131072, 131073, 1000000} {
		p := newPermutation(n, stream(11))
		for _, step := range []uint64{0, 1, 1<<64 - 1} {
			p.renew(step)
			all := p.outputs(nil, 0, n)
			seen := make([]bool, n)
			for _, v := range all {
				if int(v) >= n || seen[v] {
					t.Fatalf("n=%d, step %d: output %d is out of range or repeated", n, step, v)
				}
				seen[v] = true
			}
			p.renew(step)
			var pieces []uint32
			for lo := 0; lo < n; {
				hi := min(n, lo+1+n/7)
				pieces = p.outputs(pieces, lo, hi)
				lo = hi
			}
			if !slices.Equal(pieces, all) {
				t.Errorf("n=%d, step %d: pieces differ from the whole", n, step)
			}
		}
	}
}

const parts = 16 // equal parts of the outputs' range

// pairsOf counts over many keys which parts the images of 8 neighbouring
// positions fall into (by position), and of pairs: of neighbours, which differ
// in the right half, and of positions that differ in the left half only.
func pairsOf(f *feistel, n, steps int) (single, neighbours, leftOnly []int, low []int) {
	single, low = make([]int, 8*parts), make([]int, 64)
	neighbours, leftOnly = make([]int, parts*parts), make([]int, parts*parts)
	part := func(v uint32) int { return int(v) * parts / n }
	for step := range uint64(steps) {
		f.renew(step)
		out := f.outputs(nil, 0, 8)
		far := f.outputs(nil, 1<<f.right, 1<<f.right+8)
		for i, v := range out {
			low[v%64]++
			single[i*parts+part(v)]++
			neighbours[part(v)*parts+part(out[(i+1)%8])]++
			leftOnly[part(v)*parts+part(far[i])]++
		}
	}
	return single, neighbours, leftOnly, low
}

// The outputs hit every part of the range alike, singly and in pairs.
// Without replacement the second of a pair is drawn from n-1 records: that
// difference from uniform, 1/n, is far below what 48 000 draws show.
func TestFeistelOutputs(t *testing.T) {
	for _, n := range []int{65536, 90000, 131072, 1000003} {
		single, neighbours, leftOnly, low := pairsOf(newFeistel(n, stream(12)), n, 6000)
		name := fmt.Sprintf("n=%d", n)
		stattest.Require(t, name+": outputs by position", stattest.Uniform(single))
		stattest.Require(t, name+": neighbours", stattest.Uniform(neighbours))
		stattest.Require(t, name+": equal right halves", stattest.Uniform(leftOnly))
		stattest.Require(t, name+": low bits", uniformModulo(low, n))
	}
}

func uniformModulo(counts []int, n int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	expected := make([]float64, len(counts))
	for i := range expected {
		expected[i] = float64(total) * float64((n-1-i)/len(counts)+1) / float64(n)
	}
	return stattest.ChiSquare(counts, expected)
}

// The same check sees that two rounds are too few.
func TestTwoRoundsAreNotEnough(t *testing.T) {
	const n = 65536
	f := newFeistel(n, stream(13))
	f.rounds = f.rounds[:1]
	_, _, leftOnly, _ := pairsOf(f, n, 2000)
	if p := stattest.Uniform(leftOnly); p >= stattest.Alpha {
		t.Errorf("two rounds pass as a random permutation: p = %g", p)
	}
}

// The network against one written down from its definition, a byte of key
// stream at a time.
func TestFeistelDefinition(t *testing.T) {
	for _, n := range []int{65536, 65537, 1 << 17, 700000, 1 << 20} {
		f := newFeistel(n, stream(14))
		const step = 9
		f.renew(step)
		src := stream(14)
		src.SeekBlock(step, 1<<32)
		bits := 0
		for 1<<bits < n {
			bits++
		}
		left, right := bits/2, bits-bits/2
		rounds := map[int]int{8: 12, 9: 12, 10: 10}[left]
		var tables [][]uint32
		for r := range rounds {
			in, out := right, left
			if r%2 == 1 {
				in, out = left, right
			}
			table := make([]uint32, 1<<in)
			for i := range table {
				var word [2]byte
				src.Fill(word[:])
				table[i] = (uint32(word[0]) | uint32(word[1])<<8) % (1 << out)
			}
			tables = append(tables, table)
		}
		image := func(v uint32) uint32 {
			for {
				l, r := v>>right, v%(1<<right)
				for i, table := range tables {
					if i%2 == 0 {
						l ^= table[r]
					} else {
						r ^= table[l]
					}
				}
				if v = l<<right | r; int(v) < n {
					return v
				}
			}
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			i := rng.IntN(n)
			if got := f.outputs(nil, i, i+1)[0]; got != image(uint32(i)) {
				t.Fatalf("n=%d: image of %d is %d, want %d", n, i, got, image(uint32(i)))
			}
		}
	}
}

func TestBoundedIsUniform(t *testing.T) {
	b := newBounded(stream(15))
	b.seek(0)
	for _, n := range []uint32{1, 2, 7, 3 << 30} {
		counts := make([]int, min(n, 7))
		for range 300 {
			for _, v := range b.next(200, n, 0) {
				if v >= n {
					t.Fatalf("below %d: %d", n, v)
				}
				counts[uint64(v)*uint64(len(counts))/uint64(n)]++
			}
		}
		if n > 1 {
			stattest.Require(t, fmt.Sprintf("below %d", n), stattest.Uniform(counts))
		}
	}
}

// Number i is the same however many are taken at a time, rejections included:
// with a bound of 3·2^30 every fourth word is rejected.
func TestBoundedIsAddressedByIndex(t *testing.T) {
	b := newBounded(stream(17))
	for _, less := range []uint32{0, 1} {
		b.seek(5)
		want := slices.Clone(b.next(256, 3<<30, less))
		b.seek(5)
		var got []uint32
		for k := 1; len(got) < len(want); k++ {
			n := 3<<30 - less*uint32(len(got))
			got = append(got, b.next(min(k, len(want)-len(got)), n, less)...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("less=%d: pieces differ from the whole", less)
		}
	}
}

// The assembly gives the bits of the Go loop, for every length.
func TestPermuteFastAgrees(t *testing.T) {
	for _, n := range []int{65536, 1 << 17, 1000003, 1<<32 - 1} {
		f := newFeistel(n, stream(16))
		f.renew(3)
		rng := rand.New(rand.NewPCG(3, 4))
		for length := range 100 {
			fast, slow := make([]uint32, length), make([]uint32, length)
			for i := range fast {
				fast[i] = uint32(rng.Uint64N(1 << (f.left + f.right)))
				slow[i] = fast[i]
			}
			f.permute(fast)
			for i := range slow {
				f.permute(slow[i : i+1]) // too short for the assembly
			}
			if !slices.Equal(fast, slow) {
				t.Fatalf("n=%d: %d values differ from one at a time", n, length)
			}
		}
	}
}
