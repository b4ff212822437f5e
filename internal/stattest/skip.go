package stattest

import "testing"

// SkipNumerics skips a test of long numerics under the race detector: it would take
// minutes there, and shorter tests run the same code with other goroutines.
func SkipNumerics(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("long numerics: runs without -race")
	}
}
