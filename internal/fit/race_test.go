//go:build race

package fit_test

// underRace: the race detector makes some tests ten times slower and changes
// what memory they take; .ci/run runs all of them without it.
const underRace = true
