package verdict

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"d3p/internal/outputs"
)

const usableLost = 0.1 // of the declared records

// moreThanDeclared reports whether clearly more records are usable than declared.
func (k Known) moreThanDeclared() bool {
	return k.Usable > (1+usableLost)*k.Declared+levelNoise*k.UsableSD
}

// Whole is the verdict about all variables in tables: resolved or not if all are, else
// partly. If far fewer records are usable than declared, or more, it is partly at best, and not with
// fewer than half of them. It names what is not checked.
func Whole(rows []outputs.Summary, known Known) outputs.Verdict {
	whole := wholeOf(rows, known)
	if whole.Value == outputs.Resolved || whole.Value == outputs.Partly {
		whole.Why = strings.TrimPrefix(strings.TrimSuffix(whole.Why+"; "+known.Unchecked, "; "), "; ")
	}
	return whole
}

// wholeOf is Whole of what is checked.
func wholeOf(rows []outputs.Summary, known Known) outputs.Verdict {
	counts := map[string]int{}
	var gravest outputs.Verdict
	n := 0
	for _, r := range outputs.WithoutRepetitions(rows) {
		if r.Verdict == nil {
			continue
		}
		n++
		counts[r.Verdict.Value]++
		if order(r.Verdict.Value) > order(gravest.Value) {
			gravest = *r.Verdict
			gravest.Why = r.Variable + ": " + gravest.Why
		}
	}
	if n == 0 {
		return outputs.Verdict{}
	}
	whole := outputs.Verdict{Value: outputs.Resolved}
	switch {
	case counts[outputs.Not] == n:
		whole = outputs.Verdict{Value: outputs.Not, Why: gravest.Why}
	case counts[outputs.Resolved] < n:
		whole = outputs.Verdict{Value: outputs.Partly, Why: fmt.Sprintf("%d of %d resolved, %d partly, %d not; %s", counts[outputs.Resolved], n, counts[outputs.Partly], counts[outputs.Not], gravest.Why)}
	}
	if lost := known.Declared - known.Usable; known.UsableSD != 0 && math.Abs(lost) > usableLost*known.Declared+levelNoise*known.UsableSD {
		why := fmt.Sprintf("about %.0f ± %.0f records are usable, more than the %.0f declared: correct rows in the model file", known.Usable, known.UsableSD, known.Declared)
		if lost > 0 {
			why = cmp.Or(known.Lost, "the table has fewer, or levels, bounds and missing values reject others")
			why = fmt.Sprintf("only about %.0f ± %.0f of %.0f declared records are usable: %s (d3p check MODEL --data FILE --out PRIVATE counts them)", math.Max(0, known.Usable), known.UsableSD, known.Declared, why)
		}
		switch {
		case whole.Value == outputs.Not:
			return outputs.Verdict{Value: outputs.Not, Why: why + "; " + whole.Why}
		case known.Usable < known.Declared/2:
			return outputs.Verdict{Value: outputs.Not, Why: why}
		}
		return outputs.Verdict{Value: outputs.Partly, Why: why}
	}
	return whole
}
