package sampler

import (
	"math/bits"

	"d3p/internal/privacy/noise"
)

// feistel is a pseudorandom permutation of [0, n): an alternating Feistel
// network on the smallest power of two that holds n, 2^16 or more, followed until it
// leads back below n (cycle walking, Black and Rogaway 2002).
//
// With a value split into left (high) and right bits, the right half being the
// longer one by at most a bit, round r = 0, 2, 4, ... sets left ^= F_r(right)
// and round r = 1, 3, ... right ^= F_r(left). F_r is AES-256 itself: its table
// is a stretch of the sampling stream, 16-bit words cut to the half's length,
// in the order of the rounds. All tables of a step together take a few
// nanoseconds per record of the square root of n, and a round is one look-up.
type feistel struct {
	src         *noise.Stream
	n           uint32
	left, right int // bits of the halves
	rounds      [][2][]uint16
	table       []uint16 // all rounds
}

// leastWidth is the least length of a value in bits: a network on shorter halves than 8
// bits needs more rounds. With few records a walk is long, but the walks of all n records
// still take at most 2^16 steps together.
const leastWidth = 16

func newFeistel(n int, src *noise.Stream) *feistel {
	width := max(leastWidth, bits.Len64(uint64(max(1, n)-1)))
	f := &feistel{src: src, n: uint32(n), left: width / 2, right: width - width/2}
	pairs := feistelRounds(f.left) / 2
	pair := 1<<f.right + 1<<f.left
	f.table = make([]uint16, pairs*pair, pairs*pair+1) // gathers read one word beyond
	for i := range pairs {
		even := f.table[i*pair:][:1<<f.right]
		odd := f.table[i*pair+1<<f.right:][:1<<f.left]
		f.rounds = append(f.rounds, [2][]uint16{even, odd})
	}
	return f
}

// LeastRounds is the least number of rounds of a network.
const LeastRounds = 10

// feistelRounds returns the even number of rounds for halves of at least w
// bits: LeastRounds, as in NIST SP 800-38G, or more, so that the best known generic
// attack on many networks of r rounds, with 2^((r-4)w) outputs (Patarin 2001,
// eprint 2008/036), needs at least 2^60.
func feistelRounds(w int) int {
	r := max(LeastRounds, 4+(60+w-1)/w)
	return r + r%2
}

func (f *feistel) renew(step uint64) {
	f.src.SeekBlock(step, permutationBlock)
	f.src.Words16(f.table)
}

// chunk is the number of values that pass the network together.
const chunk = 256

func (f *feistel) outputs(dst []uint32, lo, hi int) []uint32 {
	for lo < hi {
		k := min(chunk, hi-lo)
		at := len(dst)
		for i := range k {
			dst = append(dst, uint32(lo+i))
		}
		f.walk(dst[at:])
		lo += k
	}
	return dst
}

// walk replaces each of at most chunk values by its image.
func (f *feistel) walk(values []uint32) {
	f.permute(values)
	var outside [chunk]uint32
	var where [chunk]uint16
	pending := 0
	for i, v := range values {
		where[pending], outside[pending] = uint16(i), v
		if v >= f.n {
			pending++
		}
	}
	for pending > 0 {
		f.permute(outside[:pending])
		left := 0
		for i, v := range outside[:pending] {
			if v < f.n {
				values[where[i]] = v
				continue
			}
			where[left], outside[left] = where[i], v
			left++
		}
		pending = left
	}
}

// permute takes each value once through the network. Four at a time hide the
// latency of the look-ups. Bits beyond a half's length are cut off when it is
// used, not when it is made.
func (f *feistel) permute(values []uint32) {
	shift := f.right
	maskLeft, maskRight := uint32(1)<<f.left-1, uint32(1)<<f.right-1
	values = values[f.permuteFast(values):]
	for len(values) >= 4 {
		v := (*[4]uint32)(values)
		l0, r0 := v[0]>>shift, v[0]
		l1, r1 := v[1]>>shift, v[1]
		l2, r2 := v[2]>>shift, v[2]
		l3, r3 := v[3]>>shift, v[3]
		for i := range f.rounds {
			even, odd := f.rounds[i][0], f.rounds[i][1]
			if len(even) <= int(maskRight) || len(odd) <= int(maskLeft) {
				panic("sampler: short table") // never, but it spares a check per look-up
			}
			l0 ^= uint32(even[int(r0&maskRight)])
			l1 ^= uint32(even[int(r1&maskRight)])
			l2 ^= uint32(even[int(r2&maskRight)])
			l3 ^= uint32(even[int(r3&maskRight)])
			r0 ^= uint32(odd[int(l0&maskLeft)])
			r1 ^= uint32(odd[int(l1&maskLeft)])
			r2 ^= uint32(odd[int(l2&maskLeft)])
			r3 ^= uint32(odd[int(l3&maskLeft)])
		}
		v[0] = l0&maskLeft<<shift | r0&maskRight
		v[1] = l1&maskLeft<<shift | r1&maskRight
		v[2] = l2&maskLeft<<shift | r2&maskRight
		v[3] = l3&maskLeft<<shift | r3&maskRight
		values = values[4:]
	}
	for i, v := range values {
		l, r := v>>shift, v
		for _, t := range f.rounds {
			l ^= uint32(t[0][r&maskRight])
			r ^= uint32(t[1][l&maskLeft])
		}
		values[i] = l&maskLeft<<shift | r&maskRight
	}
}
