//go:build !purego

package noise

import (
	"fmt"
	"math"
	"testing"

	"golang.org/x/sys/cpu"
)

// The assembly gives the bits of the Go formula, at the words of the vectors
// and at random ones.
func TestNormalAssemblyAgrees(t *testing.T) {
	var words []uint64
	lines(t, "normals.txt", func(line string) {
		var radius, angle uint64
		var rest string
		if _, err := fmt.Sscan(line, &radius, &angle, &rest); err != nil {
			t.Fatal(err)
		}
		words = append(words, radius, angle)
	})
	s := Insecure(34).Stream(GradientNoise)
	for len(words)%normalGroup != 0 || len(words) < 1<<18 {
		words = append(words, s.Uint64())
	}
	want, got, drawn := make([]float64, len(words)), make([]float64, len(words)), make([]float64, len(words))
	for name, kernel := range map[string]func(z, words *float64, groups int){
		"AVX-512": onlyIf(cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ, boxMullerAVX512),
		"AVX2":    onlyIf(cpu.X86.HasAVX2 && cpu.X86.HasFMA, boxMullerAVX2),
	} {
		if kernel == nil {
			t.Logf("this machine has no %s", name)
			continue
		}
		for rotate := range normalGroup { // every word as every part of a group
			for i := range words {
				putWord(want, i, words[(i+rotate)%len(words)])
				putWord(drawn, i, words[(i+rotate)%len(words)])
			}
			boxMullerPortable(want, want)
			kernel(&got[0], &drawn[0], len(got)/normalGroup)
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("%s: normal %d is %v, want %v", name, i, got[i], want[i])
				}
			}
		}
	}
}

func onlyIf(has bool, kernel func(z, words *float64, groups int)) func(z, words *float64, groups int) {
	if !has {
		return nil
	}
	return kernel
}
