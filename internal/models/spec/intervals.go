package spec

import "strings"

// cuts reads `cuts: [30, 90, 365]`, the times at which the hazard of a
// piecewise exponential changes.
func (r *reader) cuts(e entry) []Value[float64] {
	list := r.numbers(e)
	for i, c := range list {
		switch {
		case c.V <= 0:
			r.add(c.At, "the first interval starts at 0", "a cut must be positive, not %s", formatNumber(c.V))
		case i > 0 && c.V <= list[i-1].V:
			r.add(c.At, "", "the cuts must increase, but %s follows %s", formatNumber(c.V), formatNumber(list[i-1].V))
		}
	}
	return list
}

// checkCuts reports cuts that are missing, that the family does not have, and
// cuts that no time can reach: nothing would be learnt about what follows them.
func (b *blocks) checkCuts(m *Model, f *family) {
	switch {
	case f == nil:
		return
	case !f.intervals && len(m.Cuts) > 0:
		b.add(m.Cuts[0].At, "", "family %s has no cuts", f.name)
		return
	case f.intervals && len(m.Cuts) == 0:
		b.add(m.Family.At, "add `cuts: [30, 90, 365]`, times in the unit of the file", "family %s needs the times at which its hazard changes", f.name)
		return
	}
	c := b.spec.Data.Column(m.Terms.Response.V)
	if c == nil || !c.Upper.IsSet() {
		return
	}
	for _, cut := range m.Cuts {
		if cut.V >= c.Upper.V {
			b.add(cut.At, "", "the cut %s is not below the upper bound of %s, %s", formatNumber(cut.V), c.Name.V, formatNumber(c.Upper.V))
		}
	}
}

// intervals names the intervals between the cuts: 0-30, 30-90, 90+.
func (m *Model) intervals() []string {
	var labels []string
	start := "0"
	for _, c := range m.Cuts {
		end := formatNumber(c.V)
		labels = append(labels, start+"-"+end)
		start = end
	}
	return append(labels, start+"+")
}

// cutsText prints the cuts as a list.
func (m *Model) cutsText() string {
	var list []string
	for _, c := range m.Cuts {
		list = append(list, formatNumber(c.V))
	}
	return "[" + strings.Join(list, ", ") + "]"
}
