package workload

import (
	"math"
	"testing"

	"d3p/internal/fit/plan"
)

// At the number of useful processes a share of the records takes as long as the rest; a
// small fit has one process, without sums.
func TestUsefulProcesses(t *testing.T) {
	p, e := &plan.Plan{Records: 1e8, Steps: 1000}, &Estimate{Seconds: 20, Threads: 2}
	n, seconds := e.usefulProcesses(p, 20)
	if rest := fixedTime + 1000*sumTime; n != int((20+1e9*readingTime)/rest) || math.Abs(seconds-2*rest) > rest/20 {
		t.Errorf("%d processes take %g s, of which %g s do not depend on their number", n, seconds, rest)
	}
	if n, seconds := (&Estimate{Seconds: 0.01, Threads: 2}).usefulProcesses(&plan.Plan{Records: 1000, Steps: 1000}, 5); n != 1 || seconds < fixedTime || seconds > fixedTime+0.02 {
		t.Errorf("a small fit is for %d processes and takes %g s", n, seconds)
	}
}
