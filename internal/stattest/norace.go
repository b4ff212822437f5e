//go:build !race

package stattest

// Race is whether this program was built with -race: the race detector makes numerics
// ten to thirty times slower and changes what memory they take, and .ci/run runs all
// tests without it too.
const Race = false
