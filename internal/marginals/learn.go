package marginals

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Measure releases the counts of tables with normal noise of the given standard
// deviations. One unit moves each table by at most 1 in L2; the call costs a
// Gaussian release with σ⁻² = Σ σ_S⁻².
type Measure func(sets []Set, sigma []float64) ([][]float64, error)

// Question is a set of the workload with its weight.
type Question struct {
	Set    Set
	Weight float64
}

// Config says what is learnt of a table.
type Config struct {
	Domain   Domain
	Zeros    []Zeros
	Columns  []Measurement // of each column, in order
	Workload []Question    // sets of at least two columns
	// Sigma is that of each release: Σ σ_S⁻² = Sigma⁻².
	Sigma   float64
	Limit   int // cells of the tree
	Workers int
}

// rounds of choice and measurement follow the first look.
const rounds = 3

// leastTrust keeps a measured table from being ignored.
const leastTrust = 0.3

// Learned is what was measured, and the tree fitted to it.
type Learned struct {
	Records      float64 // estimate of the number of records
	Measurements []Measurement
	Tree         *Tree
	Distances    []Distance // by set of the workload
}

// Distance is the total variation between the true table over a set and the
// tree's that the measurements predict.
type Distance struct {
	Set       Set
	Predicted float64
	Measured  bool // the tree is fitted to the set
}

// Releases is the largest number of calls of measure that Learn makes.
const Releases = 1 + rounds

// learner is the state of Learn.
type learner struct {
	Config
	random  Random
	n       float64
	looks   []Measurement // by question
	clean   []Measurement // looks, reconciled
	chosen  []bool        // by question: the tree has it
	order   []int         // questions of the tree, in order of choice
	tree    *Tree
	model   []float64 // counts of a question under the tree
	sample  [][]int32
	sampled int
	learned Learned
}

// Learn takes a first noisy look at all sets of the workload. Then, in rounds, it chooses the sets that the fitted tree explains
// worst, measures them again and fits the tree to everything. The choice depends
// on noisy counts only: it is post-processing. Where McKenna et al. 2022
// (arXiv:2201.12677) pay an exponential mechanism for the choice, the look is
// paid once and serves the fit as well.
func Learn(c Config, measure Measure, random Random) (*Learned, error) {
	c.Columns = slices.Clone(c.Columns)
	l := &learner{Config: c, random: random, chosen: make([]bool, len(c.Workload))}
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := l.look(measure); err != nil {
		return nil, err
	}
	if err := l.fit(roundIterations); err != nil {
		return nil, err
	}
	for round := range rounds {
		if len(c.Workload) == 0 {
			break
		}
		if err := l.round(measure, round); err != nil {
			l.tree.Close()
			return nil, err
		}
	}
	l.draw()
	for i := range c.Workload {
		l.learned.Distances = append(l.learned.Distances, Distance{c.Workload[i].Set, l.distance(i), l.chosen[i]})
	}
	l.learned.Records, l.learned.Tree = l.n, l.tree
	l.learned.Measurements = l.measurements()
	return &l.learned, nil
}

// MostCells bounds the table of a question.
const MostCells = 1 << 20

func (l *learner) check() error {
	if !(l.Sigma > 0) {
		return errors.New("marginals: sigma is not positive")
	}
	for _, q := range l.Workload {
		if len(q.Set) < 2 || !(q.Weight > 0) {
			return fmt.Errorf("marginals: question %v has fewer than two columns or no weight", q.Set)
		}
		if n := l.Domain.Cells(q.Set); n > MostCells {
			return fmt.Errorf("the table over %d columns has %s cells, more than %d", len(q.Set), words(n), MostCells)
		}
	}
	if len(l.Columns) != len(l.Domain) {
		return fmt.Errorf("marginals: %d columns measured of %d", len(l.Columns), len(l.Domain))
	}
	tree, err := NewTree(l.Domain, singles(l.Domain), l.Zeros, l.Limit, 1)
	if err == nil {
		tree.Close()
	}
	return err
}

func words(n int) string {
	if n == math.MaxInt {
		return "over 10^18"
	}
	return fmt.Sprint(n)
}

func singles(d Domain) []Set {
	var sets []Set
	for k := range d {
		sets = append(sets, Set{k})
	}
	return sets
}

// look measures all questions in one release.
func (l *learner) look(measure Measure) error {
	if len(l.Workload) > 0 {
		total := 0.0
		for _, q := range l.Workload {
			total += q.Weight
		}
		var sets []Set
		var sigma []float64
		for _, q := range l.Workload {
			sets = append(sets, q.Set)
			sigma = append(sigma, l.Sigma*math.Sqrt(total/q.Weight))
		}
		counts, err := measure(sets, sigma)
		if err != nil {
			return err
		}
		for i := range sets {
			l.looks = append(l.looks, Measurement{Set: sets[i], Counts: counts[i], Variance: sigma[i] * sigma[i], Trust: 1})
		}
	}
	l.reconcile()
	for i := range l.Columns {
		l.Columns[i].Trust = l.n / 30
	}
	return nil
}

// reconcile sets n and clean from everything that was measured.
func (l *learner) reconcile() {
	all := slices.Concat(l.Columns, l.looks)
	l.n = Records(all)
	l.clean = Reconcile(l.Domain, all, l.n)[len(l.Columns):]
}

// measurements are those that the tree is fitted to.
func (l *learner) measurements() []Measurement {
	m := slices.Clone(l.Columns)
	for _, i := range l.order {
		m = append(m, l.looks[i])
	}
	return m
}

func (l *learner) sets() []Set {
	var sets []Set
	for _, m := range l.measurements() {
		sets = append(sets, m.Set)
	}
	return sets
}

// fit builds the tree for the chosen sets and fits it, from the last one's
// parameters.
func (l *learner) fit(iterations int) error {
	tree, err := NewTree(l.Domain, l.sets(), l.Zeros, math.MaxInt32, l.Workers)
	if err != nil {
		return err
	}
	if l.tree != nil {
		copy(tree.theta, l.tree.theta) // chosen sets are appended
		l.tree.Close()
	} else {
		for i, m := range l.Columns {
			for c, y := range m.Counts {
				tree.Theta[i][c] = math.Log(max(y, 1) / l.n)
			}
		}
	}
	l.tree = tree
	tree.Estimate(l.measurements(), iterations)
	return nil
}

// draw draws the sample that tables outside of the tree are counted from.
func (l *learner) draw() {
	l.sampled = int(min(max(4*l.n, 1e5), 5e7/float64(len(l.Domain))))
	l.sample = l.tree.Sample(l.sampled, l.random, false)
}

// expect sets model to the counts of a question under the tree.
func (l *learner) expect(i int) []float64 {
	set := l.Workload[i].Set
	l.model = append(l.model[:0], make([]float64, l.Domain.Cells(set))...)
	Count(l.model, l.Domain, set, l.sample)
	for c := range l.model {
		l.model[c] *= l.n / float64(l.sampled)
	}
	return l.model
}

// Count counts the records' cells in the table over s.
func Count(dst []float64, d Domain, s Set, records [][]int32) {
	steps := d.strides(s)
	for i := range records[0] {
		at := 0
		for j, k := range s {
			at += int(records[k][i]) * steps[j]
		}
		dst[at]++
	}
}

// excess estimates by what factor true counts deviate from the model's more than
// by chance: their variance is excess times the count. It weights cells by the
// model's count, which is where deviations show.
func (l *learner) excess(m *Measurement, model []float64) float64 {
	a, b := 0.0, 0.0
	for c, y := range m.Counts {
		e := y - model[c]
		a += model[c] * (e*e - m.Variance)
		b += model[c] * model[c]
	}
	if b == 0 {
		return 0
	}
	return min(a/b-l.n/float64(l.sampled), l.n/100)
}

// deviation is the expected absolute deviation of all cells when the true counts
// deviate from the model by excess and are seen through the variance; 0.8 is the
// mean of |N(0, 1)|.
func deviation(model []float64, excess, variance float64) float64 {
	sum := 0.0
	for _, m := range model {
		v := excess * m
		sum += math.Sqrt(v / (1 + v/variance))
	}
	return 0.8 * sum
}

// distance predicts the total variation of a question.
func (l *learner) distance(i int) float64 {
	model := l.expect(i)
	m := l.clean[i]
	m.Trust = l.looks[i].Trust
	excess := max(0, l.excess(&m, model))
	variance := math.Inf(1)
	if l.chosen[i] {
		variance, excess = m.Variance, max(excess, m.Trust)
	}
	return deviation(model, excess, variance) / (2 * l.n)
}

// candidate is a question that a round may choose.
type candidate struct {
	question int
	model    []float64
	excess   float64
	gain     float64
}

// round chooses questions, measures them and fits the tree.
func (l *learner) round(measure Measure, round int) error {
	l.draw()
	unit := l.Sigma * l.Sigma // variance of a table that gets the whole release
	var list []candidate
	for i := range l.Workload {
		model := l.expect(i)
		if l.chosen[i] {
			continue
		}
		c := candidate{question: i, model: slices.Clone(model), excess: l.excess(&l.clean[i], model)}
		if c.excess > 0 {
			list = append(list, c)
		}
	}
	picked := l.pick(list, unit, round)
	var sets []Set
	var sigma []float64
	for range picked {
		sigma = append(sigma, l.Sigma*math.Sqrt(float64(len(picked))))
	}
	for _, c := range picked {
		sets = append(sets, l.Workload[c.question].Set)
	}
	if len(picked) > 0 {
		counts, err := measure(sets, sigma)
		if err != nil {
			return err
		}
		for i, c := range picked {
			m := &l.looks[c.question]
			l.combine(m, counts[i], sigma[i]*sigma[i])
		}
		l.reconcile()
		for _, c := range picked {
			l.looks[c.question].Trust = max(leastTrust, l.excess(&l.clean[c.question], c.model))
		}
	}
	iterations := roundIterations
	if round == rounds-1 {
		l.fill(list)
		iterations = lastIterations
	}
	return l.fit(iterations)
}

// combine averages a second measurement with weights of least variance.
func (l *learner) combine(m *Measurement, counts []float64, variance float64) {
	w := variance / (m.Variance + variance)
	for c, y := range counts {
		m.Counts[c] = w*m.Counts[c] + (1-w)*y
	}
	m.Variance *= w
}

// pick chooses greedily, by gain, what fits into the tree.
func (l *learner) pick(list []candidate, unit float64, round int) []candidate {
	most := max(1, len(l.Domain)) // questions
	l.rank(list, unit*float64(most))
	limit := int(float64(l.Limit) * float64(round+1) / rounds)
	var picked []candidate
	sets := l.sets()
	for _, c := range list {
		if len(picked) == most {
			break
		}
		set := l.Workload[c.question].Set
		if Size(l.Domain, append(slices.Clip(sets), set), l.Zeros, limit) > limit {
			continue
		}
		sets = append(sets, set)
		picked = append(picked, c)
	}
	// As many as gain most together: fewer tables have less noise each.
	best, number := 0.0, 0
	for k := 1; k <= len(picked); k++ {
		total := 0.0
		for i := range picked[:k] {
			total += l.gain(&picked[i], unit*float64(k))
		}
		if total > best {
			best, number = total, k
		}
	}
	picked = picked[:number]
	for _, c := range picked {
		l.chosen[c.question] = true
		l.order = append(l.order, c.question)
	}
	return picked
}

// rank sorts by gain, largest first.
func (l *learner) rank(list []candidate, variance float64) {
	for i := range list {
		list[i].gain = l.gain(&list[i], variance)
	}
	sort.SliceStable(list, func(a, b int) bool { return list[a].gain > list[b].gain })
}

// gain is by how much the expected deviation falls when the candidate is measured
// again with the variance and the tree fitted to it.
func (l *learner) gain(c *candidate, variance float64) float64 {
	first := l.looks[c.question].Variance
	both := first * variance / (first + variance)
	return l.Workload[c.question].Weight * (deviation(c.model, c.excess, math.Inf(1)) - deviation(c.model, c.excess, both))
}

// fill adds looks that fit into the tree and were not measured again.
func (l *learner) fill(list []candidate) {
	sets := l.sets()
	for _, c := range list {
		if l.chosen[c.question] {
			continue
		}
		set := l.Workload[c.question].Set
		if Size(l.Domain, append(slices.Clip(sets), set), l.Zeros, l.Limit) > l.Limit {
			continue
		}
		sets = append(sets, set)
		l.chosen[c.question] = true
		l.looks[c.question].Trust = max(leastTrust, c.excess)
		l.order = append(l.order, c.question)
	}
}
