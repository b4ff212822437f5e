package fit

import (
	"fmt"
	"math"
	"strings"
)

// schedule is one line of the table of learning-rate schedules: factor gives
// the fraction of the learning rate used at step t = 0..T-1.
type schedule struct {
	name   string
	factor func(t, steps int) float64
}

// schedules returns the table of learning-rate schedules.
func schedules() []schedule {
	return []schedule{
		{"constant", func(int, int) float64 { return 1 }},
		// Half a cosine from 1 to 0. Loshchilov & Hutter 2017, arXiv:1608.03983, eq. 5.
		{"cosine", func(t, steps int) float64 {
			return (1 + math.Cos(math.Pi*float64(t)/float64(steps))) / 2
		}},
		// A tenth after half of the steps, a hundredth after three quarters.
		{"step", func(t, steps int) float64 {
			switch {
			case 4*t >= 3*steps:
				return 0.01
			case 2*t >= steps:
				return 0.1
			}
			return 1
		}},
	}
}

// scheduleNames lists the table for messages and help texts.
func scheduleNames() []string {
	var names []string
	for _, s := range schedules() {
		names = append(names, s.name)
	}
	return names
}

// lookupSchedule returns the line of the table called name.
func lookupSchedule(name string) (schedule, error) {
	for _, s := range schedules() {
		if s.name == name {
			return s, nil
		}
	}
	return schedule{}, fmt.Errorf("--schedule: unknown schedule %q (choose one of %s)",
		name, strings.Join(scheduleNames(), ", "))
}
