//go:build !race

package stattest

// Race reports whether this program was built with -race. The race detector makes numerics
// ten to thirty times slower and changes their memory; .ci/run also runs all tests without
// it.
const Race = false
