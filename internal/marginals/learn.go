package marginals

import (
	"errors"
	"fmt"
	"math"
	"slices"
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
