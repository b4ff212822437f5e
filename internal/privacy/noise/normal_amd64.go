//go:build !purego

package noise

import "golang.org/x/sys/cpu"

// boxMullerFast is boxMuller for all groups, if this machine can.
func boxMullerFast(z, words []float64) bool {
	switch x := &cpu.X86; {
	case x.HasAVX512F && x.HasAVX512DQ:
		boxMullerAVX512(&z[0], &words[0], len(z)/normalGroup)
	case x.HasAVX2 && x.HasFMA:
		boxMullerAVX2(&z[0], &words[0], len(z)/normalGroup)
	default:
		return false
	}
	return true
}

// boxMullerAVX512 turns groups > 0 of 16 words into normals, which may take their place.
//
//go:noescape
func boxMullerAVX512(z, words *float64, groups int)

// boxMullerAVX2 turns groups > 0 of 16 words into normals, which may take their place.
//
//go:noescape
func boxMullerAVX2(z, words *float64, groups int)
