//go:build race

package audit

// underRace: the race detector makes these tests ten times slower.
const underRace = true
