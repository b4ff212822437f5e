//go:build !race

package models

const underRace = false
