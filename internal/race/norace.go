//go:build !race

// Package race says whether the race detector is on, for tests: it makes numerics ten
// to thirty times slower and changes what memory they take, and .ci/run runs all tests
// without it too.
package race

// Enabled is whether this program was built with -race.
const Enabled = false
