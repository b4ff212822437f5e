package report

import (
	"math"
	"slices"

	"d3p/internal/report/figure"
)

// Trace holds iterates of a fit, thinned: the location of every unconstrained
// number. The mechanism released each of them, so the claim covers them.
type Trace struct {
	Names  []string  // of the P unconstrained numbers
	Steps  []int     // 1 to T, of each kept iterate
	Values []float64 // [len(Steps) x P]
}

// tracedLine is the trace of one number.
type tracedLine struct {
	name   string
	points []figure.Point
}

// largest returns the lines of the n numbers that end farthest from zero.
func (t *Trace) largest(n int) (lines []tracedLine) {
	p := len(t.Names)
	if len(t.Steps) < 2 {
		return nil
	}
	last := t.Values[(len(t.Steps)-1)*p:]
	order := make([]int, p)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := math.Abs(last[a]), math.Abs(last[b]); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, j := range order[:min(n, p)] {
		line := tracedLine{name: t.Names[j]}
		for i, step := range t.Steps {
			line.points = append(line.points, figure.Point{X: float64(step), Y: t.Values[i*p+j]})
		}
		lines = append(lines, line)
	}
	return lines
}

// Overlay holds the densities of one parameter before and after the fit.
type Overlay struct {
	Name             string
	Prior, Posterior []figure.Point
	From, To         float64 // of the axis
}
