package formula

import (
	"math"
	"strconv"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
)

// checkCuts reports cuts that are missing, cuts of a family without them, and cuts beyond
// every possible time: the data would show nothing about the hazard after them.
func (b *checker) checkCuts(m *Model, f *family) {
	switch {
	case f == nil:
		return
	case !f.Intervals && len(m.Cuts) > 0:
		b.Add(m.Cuts[0].At, "", "family %s has no cuts", f.Name)
		return
	case f.Intervals && len(m.Cuts) == 0:
		b.Add(m.Family.At, "add `cuts: [30, 90, 365]`, times in the unit of the file", "family %s needs the times at which its hazard changes", f.Name)
		return
	}
	c := b.Data.Column(m.Terms.Response.V)
	if c == nil || !c.Upper.IsSet() {
		return
	}
	for _, cut := range m.Cuts {
		if cut.V >= c.Upper.V {
			b.Add(cut.At, "", "the cut %s is not below the upper bound of %s, %s", source.FormatNumber(cut.V), c.Name.V, source.FormatNumber(c.Upper.V))
		}
	}
}

// intervals names the intervals between the cuts: 0-30, 30-90, 90+.
func (m *Model) intervals() []string {
	var labels []string
	start := "0"
	for _, c := range m.Cuts {
		end := source.FormatNumber(c.V)
		labels = append(labels, start+"-"+end)
		start = end
	}
	return append(labels, start+"+")
}

// CutsText prints the cuts as a list.
func (m *Model) CutsText() string {
	var list []string
	for _, c := range m.Cuts {
		list = append(list, source.FormatNumber(c.V))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// spreadOfLevels stands, in a default prior of thresholds, for their standard deviation at L levels of
// the response. What they all share, an intercept, then has about the standard deviation √2, whatever L.
const spreadOfLevels = "sqrt(2 L)"

// auxPrior is the default prior of a parameter of the family, of this model.
func (m *Model) auxPrior(a auxiliary, d *data.Data) string {
	if !strings.Contains(a.prior, spreadOfLevels) {
		return a.prior
	}
	levels := float64(len(d.Column(m.Terms.Response.V).Levels))
	return strings.Replace(a.prior, spreadOfLevels, strconv.FormatFloat(math.Sqrt(2*levels), 'g', 3, 64), 1)
}
