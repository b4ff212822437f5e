//go:build race

package accountant

// underRace: the race detector makes everything here about ten times slower,
// and no goroutine of this package depends on the numbers; .ci/run runs the
// whole numerics without it.
const underRace = true
