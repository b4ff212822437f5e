//go:build !linux

package cpu

import "time"

var begun = time.Now()

// threadTime is the time by the clock, here.
func threadTime() time.Duration { return time.Since(begun) }
