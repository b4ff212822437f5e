//go:build !amd64

package simd

// interpreters lists the interpreters of programs that this machine can run, best first.
func interpreters() []*interpreter { return []*interpreter{{of: plain}} }

// enter is never called: no program is coded.
func (by *interpreter) enter(_, _ *byte, _ int) {}
