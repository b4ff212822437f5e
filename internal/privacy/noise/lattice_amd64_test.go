//go:build !purego

package noise

import (
	"math"
	"testing"

	"golang.org/x/sys/cpu"
)

// The assembly gives the numbers and the certainty of the Go loop, group by
// group, also for what is not certain.
func TestRoundAssemblyAgrees(t *testing.T) {
	type kernel func(x, z, words *float64, groups int, sigma, perSpacing, spacing float64) uint32
	kernels := map[string]kernel{}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ {
		kernels["AVX-512"] = roundAVX512
	}
	if cpu.X86.HasAVX2 {
		kernels["AVX2"] = roundAVX2
	}
	s := Insecure(65).Stream(GradientNoise)
	const sigma = 0.7
	p := latticeScale{sigma, LatticeSpacing(sigma), 1 / LatticeSpacing(sigma)}
	special := []float64{0, math.Inf(1), math.NaN(), 0x1p60, 0x1p40, -0x1p41, 1.5 * p.spacing,
		(0.5 + 0x1p-29) * p.spacing, (0.5 + 0x1p-27) * p.spacing, (2.5 - 0x1p-29) * p.spacing, -(2.5 - 0x1p-27) * p.spacing}
	doubtful := 0
	for round := range 2000 {
		var x, z, words [normalGroup]float64
		s.Normals(x[:])
		s.Normals(z[:])
		for j := range words {
			putWord(words[:], j, s.Uint64())
		}
		i := round % normalGroup
		switch round / normalGroup % 4 {
		case 1:
			x[i], z[i] = special[s.Uint64n(uint64(len(special)))], 0
		case 2: // a radius word at or beyond the ends of the range
			word := []uint64{0, lowestWord - 1, lowestWord, highestWord, highestWord + 1, 1<<64 - 1}[s.Uint64n(6)]
			putWord(words[:], i, word)
		}
		want := x
		certain := p.roundGroup(want[:], z[:], words[:])
		if !certain {
			doubtful++
		}
		for name, run := range kernels {
			got := x
			doubt := run(&got[0], &z[0], &words[0], 1, p.sigma, p.perSpacing, p.spacing)
			if doubt > 1 || (doubt == 0) != certain {
				t.Fatalf("%s, round %d: certain is %v, want %v", name, round, doubt == 0, certain)
			}
			for j := range got {
				if got[j] != want[j] && !(math.IsNaN(got[j]) && math.IsNaN(want[j])) {
					t.Fatalf("%s, round %d: number %d is %v, want %v", name, round, j, got[j], want[j])
				}
			}
		}
	}
	if doubtful < 100 {
		t.Errorf("only %d groups were in doubt", doubtful)
	}
}
