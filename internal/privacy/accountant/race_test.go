//go:build race

package accountant

// underRace: the race detector makes everything here about ten times slower.
const underRace = true
