//go:build race

package race

// Enabled is whether this program was built with -race.
const Enabled = true
