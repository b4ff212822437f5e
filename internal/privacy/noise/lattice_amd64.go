//go:build !purego

package noise

import "golang.org/x/sys/cpu"

// roundFast is round, if this machine can.
func roundFast(x, z, words []float64, p latticeScale) (doubt uint32, done bool) {
	groups := len(x) / normalGroup
	switch c := &cpu.X86; {
	case c.HasAVX512F && c.HasAVX512DQ:
		doubt = roundAVX512(&x[0], &z[0], &words[0], groups, p.sigma, p.perSpacing, p.spacing)
	case c.HasAVX2:
		doubt = roundAVX2(&x[0], &z[0], &words[0], groups, p.sigma, p.perSpacing, p.spacing)
	default:
		return 0, false
	}
	return doubt, true
}

// roundAVX512 is round for 0 < groups <= 32.
//
//go:noescape
func roundAVX512(x, z, words *float64, groups int, sigma, perSpacing, spacing float64) (doubt uint32)

// roundAVX2 is roundAVX512 with AVX2.
//
//go:noescape
func roundAVX2(x, z, words *float64, groups int, sigma, perSpacing, spacing float64) (doubt uint32)
