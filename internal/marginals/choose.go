package marginals

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// candidate is a question that a round may measure.
type candidate struct {
	question  int
	model     []float64 // by cells
	excess    float64   // by cells
	known     float64   // precision of a cell from the measurements
	groups    float64   // excess by groups
	gain      float64
	precision float64 // of the round's measurement
}

// candidates are the questions that the model may answer better, the largest deviation
// first. With all they are all questions, at the least excess.
func (l *learner) candidates(all bool) (list []*candidate) {
	for i, q := range l.Workload {
		look := l.clean[l.looks[i]]
		c := &candidate{question: i, model: l.expect(Table{Set: q.Set})}
		coarse := c.model
		if look.Groups != nil {
			coarse = l.expect(look.Table)
		}
		c.groups = l.excess(&look, coarse)
		// A look at a group says as much about its cells as neighbouring cells agree.
		merged := float64(len(c.model)) / float64(len(coarse))
		c.known = merged / look.Variance
		c.excess = c.groups * typical(c.model) / typical(coarse)
		if m := l.full[i]; m != nil && m != l.looks[i] {
			c.known += 1 / m.Variance
		}
		if l.chosen[i] {
			c.groups = l.looks[i].Trust
			c.excess = c.groups * typical(c.model) / typical(coarse)
			if m := l.full[i]; m != nil {
				c.excess = m.Trust
			}
		}
		if all {
			c.excess, c.groups = max(c.excess, leastTrust), max(c.groups, leastTrust)
		}
		if c.excess > 0 {
			list = append(list, c)
		}
	}
	if all {
		sort.SliceStable(list, func(a, b int) bool { return list[a].excess > list[b].excess })
	}
	return list
}

// parts is the number of parts in which a round distributes its precision.
const parts = 200

// pick chooses tables that fit into the tree, by gain, and distributes the precision of the
// round over these and the tree's tables. Each part goes where it reduces the expected
// deviation most.
func (l *learner) pick(list []*candidate, round int) []*candidate {
	most := max(1, len(l.Domain)) // questions
	precision := (l.unspent + roundSteps) / (l.Sigma * l.Sigma)
	for _, c := range list {
		c.gain = l.gain(c, 0, precision/float64(most))
		if !l.chosen[c.question] {
			c.gain = l.Workload[c.question].Weight * (deviation(c.model, c.excess, math.Inf(1)) - l.rest(c, precision/float64(most)))
		}
	}
	sort.SliceStable(list, func(a, b int) bool { return list[a].gain > list[b].gain })
	limit := int(float64(l.Limit) * float64(round+1) / rounds)
	var open []*candidate
	sets := setsOf(l.tables())
	for _, c := range list {
		if l.chosen[c.question] {
			open = append(open, c)
			continue
		}
		if most == 0 {
			continue
		}
		set := l.Workload[c.question].Set
		if Size(l.Domain, append(slices.Clip(sets), set), l.Zeros, limit) > limit {
			continue
		}
		most--
		sets = append(sets, set)
		open = append(open, c)
	}
	part := precision / parts
	for _, c := range open {
		c.gain = l.gain(c, 0, part)
	}
	for range parts {
		if len(open) == 0 {
			break
		}
		best := slices.MaxFunc(open, func(a, b *candidate) int { return cmp.Compare(a.gain, b.gain) })
		best.precision += part
		best.gain = l.gain(best, best.precision, part)
	}
	return slices.DeleteFunc(open, func(c *candidate) bool { return c.precision == 0 })
}

// rest is the expected deviation of a candidate after a measurement with more precision.
func (l *learner) rest(c *candidate, more float64) float64 {
	return deviation(c.model, c.excess, 1/(c.known+more))
}

// gain is the decrease of the expected deviation from one precision to a higher one.
func (l *learner) gain(c *candidate, from, more float64) float64 {
	return l.Workload[c.question].Weight * (l.rest(c, from) - l.rest(c, from+more))
}

// fill adds looks that fit into the tree and were not measured again. A relation may exist
// although the look does not show it: without the look every estimate of it would be zero.
func (l *learner) fill(list []*candidate) {
	sets := setsOf(l.tables())
	for _, c := range list {
		if l.chosen[c.question] {
			continue
		}
		set := l.Workload[c.question].Set
		if Size(l.Domain, append(slices.Clip(sets), set), l.Zeros, l.Limit) > l.Limit {
			continue
		}
		sets = append(sets, set)
		if look := l.looks[c.question]; look == l.full[c.question] {
			look.Trust = trust(c.excess, l.n, look)
		}
		l.choose(c)
	}
}
