//go:build race

package models

// underRace: the race detector makes everything here about ten times slower,
// and nothing in this package is concurrent; .ci/run runs all of it without.
const underRace = true
