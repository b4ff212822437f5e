package marginals

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Measure releases the counts of tables with normal noise of the given standard
// deviations. One unit moves each table by at most 1 in L2; the call costs a
// Gaussian release with σ⁻² = Σ σ_S⁻².
type Measure func(tables []Table, sigma []float64) ([][]float64, error)

// Question is a set of the workload with its weight.
type Question struct {
	Set    Set
	Weight float64
}

// Config has the settings of learning.
type Config struct {
	Domain   Domain
	Zeros    []Zeros
	Columns  []Measurement // of each column, in order
	Ordered  []int         // by column: the number of cells, from the first, that are in order
	Workload []Question    // sets of at least two columns
	// Sigma is the noise of a step: a release of k steps has Σ σ_S⁻² = k Sigma⁻².
	Sigma   float64
	Limit   int // cells of the tree
	Workers int
}

// Rounds of choice and measurement follow the first look. A release of k steps costs k
// Gaussian releases of Config.Sigma.
const (
	FineSteps   = 1 // of numbers in fine cells, from which bins are made
	ColumnSteps = 6 // of single columns, Config.Columns
	lookSteps   = 4
	rounds      = 3
	roundSteps  = 3
	// Steps is the largest possible price of all releases of a table.
	Steps = FineSteps + ColumnSteps + lookSteps + rounds*roundSteps
)

// Trust in a table is twice its excess: relations are few and strong, and the excess is an
// average. leastTrust keeps a measured table from being ignored. The fit stays
// well-conditioned by two bounds on trust: mostTrust times the number of records, and the
// trust at which a parameter's penalty is leastRidge.
const (
	leastTrust = 0.3
	mostTrust  = 0.01
	leastRidge = 20
)

func (l *learner) trust(excess float64, m *Measurement) float64 {
	return min(max(leastTrust, 2*excess), max(mostTrust*l.n, m.Variance/leastRidge))
}

// Learned holds the measurements, and the tree fitted to them.
type Learned struct {
	Records      float64 // estimate of the number of records
	Measurements []Measurement
	Tree         *Tree
	Distances    []Distance // of columns, then by set of the workload
}

// Distance is the total variation, predicted by the measurements, between the true table
// over a set and the tree's.
type Distance struct {
	Set       Set
	Predicted float64
	Measured  bool // the tree is fitted to this set
}

// learner is the state of Learn.
type learner struct {
	Config
	random  Random
	n       float64
	looks   []*Measurement               // by question, by groups
	full    []*Measurement               // by question, by cells; nil: not measured; those of the look if it has no groups
	clean   map[*Measurement]Measurement // reconciled
	counts  []Measurement                // of columns, reconciled
	chosen  []bool                       // by question: the tree has it
	unseen  []sight                      // by question: those that were not chosen before the last round
	order   []*Measurement               // of the tree, except columns, in order of choice
	tree    *Tree
	sample  [][]int32
	sampled int
	unspent float64 // steps of rounds without a question
	learned Learned
}

// Learn takes a first noisy look at all sets of the workload, by groups of neighbouring
// cells. Then, in rounds, it chooses the sets that the fitted tree explains worst, measures
// them by cells, and fits the tree to everything. The choice depends only on noisy counts:
// it is post-processing. McKenna et al. 2022 (arXiv:2201.12677) pay an exponential
// mechanism for the choice; the look is paid once and serves the fit, too.
func Learn(c Config, measure Measure, random Random) (*Learned, error) {
	c.Columns = slices.Clone(c.Columns)
	l := &learner{Config: c, random: random, chosen: make([]bool, len(c.Workload)), full: make([]*Measurement, len(c.Workload))}
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
	l.learned.Distances = l.distances()
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
	tree, err := NewTree(l.Domain, Tables(singles(l.Domain)...), l.Zeros, l.Limit, 1)
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

// countsPerNoise is the mean count of a group of a look in units of its noise.
const countsPerNoise = 2

// look measures all questions in one release, by as many groups of cells as can have counts
// above the noise.
func (l *learner) look(measure Measure) error {
	l.n = Records(l.Columns)
	if len(l.Workload) > 0 {
		total := 0.0
		for _, q := range l.Workload {
			total += q.Weight
		}
		groups := make(map[[2]int][]int32)
		var tables []Table
		var sigma []float64
		for _, q := range l.Workload {
			noise := l.Sigma * math.Sqrt(total/q.Weight/lookSteps)
			most := int(math.Max(leastGroups, math.Pow(l.n/(countsPerNoise*noise), 1/float64(len(q.Set)))))
			t := Table{Set: q.Set}
			for i, k := range q.Set {
				g, ok := groups[[2]int{k, most}]
				if !ok {
					g = group(l.Columns[k].Counts, l.ordered(k), most)
					groups[[2]int{k, most}] = g
				}
				if g != nil {
					if t.Groups == nil {
						t.Groups = make([][]int32, len(q.Set))
					}
					t.Groups[i] = g
				}
			}
			tables, sigma = append(tables, t), append(sigma, noise)
		}
		counts, err := measure(tables, sigma)
		if err != nil {
			return err
		}
		for i, t := range tables {
			l.looks = append(l.looks, &Measurement{Table: t, Counts: counts[i], Variance: sigma[i] * sigma[i], Trust: 1})
			if t.Groups == nil {
				l.full[i] = l.looks[i]
			}
		}
	}
	l.reconcile()
	for i := range l.Columns {
		l.Columns[i].Trust = l.n / 30
	}
	return nil
}

// leastGroups are the fewest groups of a column in a look.
const leastGroups = 2

func (l *learner) ordered(k int) int {
	if l.Ordered == nil {
		return 0
	}
	return l.Ordered[k]
}

// reconcile sets n and clean from all measurements.
func (l *learner) reconcile() {
	all := l.all()
	l.n = Records(all)
	l.clean = make(map[*Measurement]Measurement)
	reconciled := Reconcile(l.Domain, all, l.n)
	l.counts = reconciled[:len(l.Columns)]
	for i, m := range l.bought() {
		l.clean[m] = reconciled[len(l.Columns)+i]
	}
}

// bought are all tables of the workload that were measured.
func (l *learner) bought() (list []*Measurement) {
	for i, look := range l.looks {
		list = append(list, look)
		if m := l.full[i]; m != nil && m != look {
			list = append(list, m)
		}
	}
	return list
}

// all are all measurements, those of columns first.
func (l *learner) all() []Measurement {
	list := slices.Clone(l.Columns)
	for _, m := range l.bought() {
		list = append(list, *m)
	}
	return list
}

// measurements are the measurements to which the tree is fitted.
func (l *learner) measurements() []Measurement {
	m := slices.Clone(l.Columns)
	for _, x := range l.order {
		m = append(m, *x)
	}
	return m
}

func (l *learner) tables() []Table {
	var list []Table
	for _, m := range l.measurements() {
		list = append(list, m.Table)
	}
	return list
}

// fit builds the tree for the chosen sets and fits it, from the last one's
// parameters.
func (l *learner) fit(iterations int) error {
	tree, err := NewTree(l.Domain, l.tables(), l.Zeros, math.MaxInt32, l.Workers)
	if err != nil {
		return err
	}
	if l.tree != nil {
		copy(tree.theta, l.tree.theta) // chosen sets come last
		l.tree.Close()
	} else {
		tree.Start(l.Columns)
	}
	l.tree = tree
	tree.Estimate(l.measurements(), iterations)
	return nil
}

// draw draws the sample that counts tables outside of the tree.
func (l *learner) draw() {
	l.sampled = int(min(max(4*l.n, 1e5), 5e7/float64(len(l.Domain))))
	l.sample = l.tree.Sample(l.sampled, l.random, false)
}

// expect returns the tree's counts of a table.
func (l *learner) expect(t Table) []float64 {
	model := make([]float64, l.Domain.Size(t))
	l.Domain.Count(model, t, l.sample)
	for c := range model {
		model[c] *= l.n / float64(l.sampled)
	}
	return model
}

// excess estimates the overdispersion of the true counts about the model's: their variance
// is excess times the count. It weights cells by the model's count, because deviations show
// in large counts.
func (l *learner) excess(m *Measurement, model []float64) float64 {
	noise := m.Variance * l.Domain.free(m.Table)
	a, b := 0.0, 0.0
	for c, y := range m.Counts {
		e := y - model[c]
		a += model[c] * (e*e - noise)
		b += model[c] * model[c]
	}
	if b == 0 {
		return 0
	}
	return min(a/b-l.n/float64(l.sampled), l.n)
}

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
			look.Trust = l.trust(c.excess, look)
		}
		l.choose(c)
	}
}

func setsOf(tables []Table) []Set {
	var sets []Set
	for _, t := range tables {
		sets = append(sets, t.Set)
	}
	return sets
}
