package marginals

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"d3p/internal/simd"
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

// round chooses questions, measures them and fits the tree.
func (l *learner) round(measure Measure, round int) error {
	l.draw()
	last := round == rounds-1
	if last {
		l.see()
	}
	list := l.candidates(false)
	if len(list) == 0 && last {
		list = l.candidates(true)
	}
	picked := l.pick(list, round)
	l.unspent += roundSteps
	if len(picked) > 0 {
		l.unspent = 0
		if err := l.measure(measure, picked); err != nil {
			return err
		}
	}
	iterations := roundIterations
	if last {
		l.fill(list)
		l.fill(l.candidates(true))
		iterations = lastIterations
	}
	return l.fit(iterations)
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
		// A look at a group has as much information about its cells as neighbouring cells agree.
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

// measure buys counts for the picked questions and stores them.
func (l *learner) measure(measure Measure, picked []*candidate) error {
	var tables []Table
	var sigma []float64
	for _, c := range picked {
		sigma = append(sigma, math.Sqrt(1/c.precision))
		tables = append(tables, Table{Set: l.Workload[c.question].Set})
	}
	counts, err := measure(tables, sigma)
	if err != nil {
		return err
	}
	var fresh []*candidate
	for i, c := range picked {
		q := c.question
		if l.full[q] == nil {
			l.full[q] = &Measurement{Table: tables[i], Counts: counts[i], Variance: sigma[i] * sigma[i]}
			fresh = append(fresh, c)
			continue
		}
		if !l.chosen[q] {
			fresh = append(fresh, c)
		}
		l.combine(l.full[q], counts[i], sigma[i]*sigma[i])
	}
	l.reconcile()
	for _, c := range fresh {
		m := l.full[c.question]
		clean := l.clean[m]
		m.Trust = l.trust(l.excess(&clean, c.model), m)
		l.choose(c)
		if m != l.looks[c.question] {
			l.order = append(l.order, m)
		}
	}
	return nil
}

// typical is the mean count of the cell of a record.
func typical(model []float64) float64 {
	sum, squares := 1e-9, 1e-9
	for _, m := range model {
		sum += m
		squares += m * m
	}
	return squares / sum
}

// choose adds the look of a candidate to the tree.
func (l *learner) choose(c *candidate) {
	look := l.looks[c.question]
	if l.chosen[c.question] {
		return
	}
	if look != l.full[c.question] {
		look.Trust = l.trust(c.groups, look)
	}
	l.chosen[c.question], l.order = true, append(l.order, look)
}

// combine averages a second measurement with weights of least variance.
func (l *learner) combine(m *Measurement, counts []float64, variance float64) {
	w := variance / (m.Variance + variance)
	for c, y := range counts {
		m.Counts[c] = w*m.Counts[c] + (1-w)*y
	}
	m.Variance *= w
}

// parts is the number of parts in which a round distributes its precision.
const parts = 200

// pick chooses tables that fit into the tree, by gain, and distributes the precision of the
// round over these and the tree's tables. Each part goes where it reduces the expected
// deviation most.
func (l *learner) pick(list []*candidate, round int) []*candidate {
	most := max(1, len(l.Domain)) // questions
	precision := (l.unspent + roundSteps) / (l.Sigma * l.Sigma)
	columns := make([][]float64, len(l.Domain)) // counts
	for k, m := range l.counts {
		columns[k] = m.Counts
	}
	for _, c := range list {
		c.gain = l.gain(c, 0, precision/float64(most))
		if !l.chosen[c.question] {
			c.gain = l.Workload[c.question].Weight * max(deviation(c.model, c.excess, math.Inf(1))-l.rest(c, precision/float64(most)), l.associated(c, columns))
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

// leastCorrelation is the least difference of the correlations of two ordered columns, in the look and in the tree, for
// which the tree makes room for the pair. Smaller ones move few records.
const leastCorrelation = 0.15

// associated returns by how much the absolute deviation of a pair of ordered columns decreases if the tree has the association
// that the look shows: of normal columns a correlation r moves r/π of the records. It is 0 where that may be noise. A
// measurement by cells would hardly tell such a relation, and its expected gain is small.
func (l *learner) associated(c *candidate, columns [][]float64) float64 {
	if l.Ordered == nil {
		return 0
	}
	look := []Measurement{l.clean[l.looks[c.question]]}
	for _, a := range l.Domain.Associations(look, columns, l.Ordered, l.Zeros) {
		sum := a.Estimate(look, columns, true)
		if moved := math.Abs(sum.Counts[0]-simd.Dot(a.Scores, c.model)) - math.Sqrt(sum.Variance); moved > leastCorrelation*l.n {
			return 2 / math.Pi * moved
		}
	}
	return 0
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
			look.Trust = l.trust(c.excess, look)
		}
		l.choose(c)
	}
}

// setsOf are the columns of tables.
func setsOf(tables []Table) []Set {
	var sets []Set
	for _, t := range tables {
		sets = append(sets, t.Set)
	}
	return sets
}
