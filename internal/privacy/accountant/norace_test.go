//go:build !race

package accountant

const underRace = false
