//go:build race

package stattest

// Race is whether this program was built with -race.
const Race = true
