//go:build race

package cpu

// underRace: the race detector makes some tests ten times slower; .ci/run runs all
// of them without it.
const underRace = true
