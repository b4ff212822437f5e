//go:build race

package main

// underRace: the race detector makes some tests ten times slower and changes
// what memory they take; .ci/run runs all of them without it.
const underRace = true
