//go:build !purego

package noise

import "golang.org/x/sys/cpu"

// roundFast is roundGroup for all whole groups of x, if this machine can: done
// says so, and certain that no number is in doubt. The results are in z.
func roundFast(x, z, words []float64, p latticeScale) (done, certain bool) {
	groups := len(x) / normalGroup
	if groups == 0 {
		return false, false
	}
	var doubt int
	switch c := &cpu.X86; {
	case c.HasAVX512F && c.HasAVX512DQ:
		doubt = roundAVX512(&x[0], &z[0], &words[0], groups, p.sigma, p.perSpacing, p.spacing)
	case c.HasAVX2:
		doubt = roundAVX2(&x[0], &z[0], &words[0], groups, p.sigma, p.perSpacing, p.spacing)
	default:
		return false, false
	}
	return true, doubt == 0
}

// roundAVX512 replaces z by the nearest multiples of spacing to x + sigma·z and
// returns 0 if all are certain. groups > 0.
//
//go:noescape
func roundAVX512(x, z, words *float64, groups int, sigma, perSpacing, spacing float64) (doubt int)

// roundAVX2 is roundAVX512 with AVX2.
//
//go:noescape
func roundAVX2(x, z, words *float64, groups int, sigma, perSpacing, spacing float64) (doubt int)
