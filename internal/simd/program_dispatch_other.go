//go:build !amd64

package simd

// interpreters lists what this machine can run programs with, best first.
func interpreters() []*interpreter { return []*interpreter{{name: plain.name}} }
