package optimizer

import (
	"fmt"
	"math"
	"strings"
)

// Schedule is one line of the table of learning-rate schedules.
type Schedule struct {
	Name   string
	Factor func(t, steps int) float64 // fraction of the learning rate at step t = 0..T-1
}

// Schedules returns the table of learning-rate schedules.
func Schedules() []Schedule {
	return []Schedule{
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

// ScheduleNames lists the table for messages and help texts.
func ScheduleNames() []string {
	var names []string
	for _, s := range Schedules() {
		names = append(names, s.Name)
	}
	return names
}

// LookupSchedule returns the line of the table called name.
func LookupSchedule(name string) (Schedule, error) {
	for _, s := range Schedules() {
		if s.Name == name {
			return s, nil
		}
	}
	return Schedule{}, fmt.Errorf("--schedule: unknown schedule %q (choose one of %s)",
		name, strings.Join(ScheduleNames(), ", "))
}
