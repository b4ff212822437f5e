package privacy

import (
	"math"

	"d3p/internal/models/graph"
)

// CancellationSlack is the least multiple of Σ M² that an engine adds to a squared
// norm where parts of a record's gradient can cancel: places that share parameters
// (M = Σ_w |X_w||Delta_w| of a term), and terms that do. A gradient clipped to C
// then has parts of at most C/√CancellationSlack.
const CancellationSlack = 0x1p-40

// TogetherAtMost is how many records an engine may add up at a time on a tape of
// which parts can cancel, before it adds the result to others. It is a multiple
// of sixteen.
func TogetherAtMost(t *graph.Tape) int {
	const records, parts, unit = 256, 4096, 16
	return max(unit, min(records, parts/widest(t)/unit*unit))
}

// Cancels says whether parts of a record's gradient can cancel.
func Cancels(t *graph.Tape) bool { return widest(t) > 1 || len(t.Cross) > 0 }

// widest is the most places of a term.
func widest(t *graph.Tape) int {
	w := 1
	for i := range t.Terms {
		w = max(w, t.Terms[i].Width)
	}
	return w
}

// cancellationAllowance is what RoundingAllowance lacks where parts can cancel.
// Until they do, the sums of n records' parts, w each, are as large as the parts,
// whose errors are n·w·u of that for each of the at most batch·w additions that
// concern one coordinate, in each of two neighbouring sums.
func cancellationAllowance(t *graph.Tape, batch int) float64 {
	if !Cancels(t) {
		return 0
	}
	ways := float64(widest(t) * (1 + len(t.Cross)))
	most := float64(TogetherAtMost(t)) / math.Sqrt(CancellationSlack) // of C
	return 2 * ways * float64(batch) * (most + float64(batch)) * 0x1p-53
}

// allowance is what the noise of a mechanism is widened by.
func (m Mechanism) allowance() float64 {
	return RoundingAllowance(m.BatchBound, m.Tape.P) + cancellationAllowance(m.Tape, m.BatchBound)
}
