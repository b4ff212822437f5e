package marginals

import (
	"math"
	"slices"
)

// deviation is the expected absolute deviation of all cells if the true counts deviate from
// the model by excess and have noise of the given variance. 0.8 is the mean of |N(0, 1)|.
func deviation(model []float64, excess, variance float64) float64 {
	sum := 0.0
	for _, m := range model {
		v := excess * m
		sum += math.Sqrt(v / (1 + v/variance))
	}
	return 0.8 * sum
}

// distances predict the total variation of each column, then of each question. True counts
// deviate from any model by chance, so their excess is at least 1.
func (l *learner) distances() (list []Distance) {
	var columns [][]float64
	for i, m := range l.Columns {
		model := l.expect(m.Table)
		columns = append(columns, model)
		// Where the zeros contradict the counts, the tree is further from these than their noise.
		missed := 0.0
		for c, y := range l.counts[i].Counts {
			missed += math.Abs(y - model[c])
		}
		list = append(list, Distance{m.Set, max(missed, deviation(model, m.Trust, m.Variance)) / (2 * l.n), true})
	}
	sizes := newSizes(l.unseen)
	_, precision := l.Domain.Columns(l.all(), l.n)
	for i, q := range l.Workload {
		d := Distance{q.Set, 0, l.chosen[i]}
		switch {
		case !l.chosen[i]:
			d.Predicted = l.unmeasured(q.Set, columns, precision, sizes.posterior(l.unseen[i].likelihood()))
		case l.full[i] != nil:
			m := l.full[i]
			d.Predicted = deviation(l.expect(m.Table), max(1, m.Trust), m.Variance)
		default:
			look := l.clean[l.looks[i]]
			model := l.expect(look.Table)
			d.Predicted = deviation(model, max(1, l.excess(&look, model), l.looks[i].Trust), look.Variance)
		}
		d.Predicted /= 2 * l.n
		list = append(list, d)
	}
	return list
}

// unmeasured is the expected absolute deviation of a table that is not in the tree: noise of
// its columns, chance, and a relation whose size has the given probabilities.
func (l *learner) unmeasured(s Set, columns [][]float64, precision, probability []float64) float64 {
	model := l.expect(Table{Set: s})
	common := make([]float64, len(model)) // variance without a relation
	chance := l.Domain.free(Table{Set: s})
	for c, y := range model {
		common[c] = chance * y
	}
	inner := len(model)
	for _, k := range s {
		inner /= l.Domain[k]
		for c, y := range model {
			if n := columns[k][c/inner%l.Domain[k]]; n > 0 {
				common[c] += y * y / (n * n) / (precision[k] + 1/(l.Columns[k].Trust*n))
			}
		}
	}
	excess := typical(model)
	sum := 0.0
	for g, p := range probability {
		for c, y := range model {
			sum += p * math.Sqrt(common[c]+relationSize(g)*excess*y)
		}
	}
	return 0.8 * sum
}

// sight is a noisy look at the relation of a table that is not in the tree: its size, which is
// the excess beyond chance in units of the count of a record's cell, and the noise of that, 0
// where there is no look.
type sight struct{ size, noise float64 }

// see sets the sights of the questions that are not chosen yet.
func (l *learner) see() {
	l.unseen = make([]sight, len(l.Workload))
	for i := range l.Workload {
		if l.chosen[i] {
			continue
		}
		look := l.clean[l.looks[i]]
		model := l.expect(look.Table)
		squares := 1e-9
		for _, m := range model {
			squares += m * m
		}
		noise := look.Variance * l.Domain.free(look.Table) * math.Sqrt(2/squares)
		t := typical(model)
		l.unseen[i] = sight{(l.excess(&look, model) - 1) / t, max(noise/t, 1e-9)}
	}
}

// likelihood has, by size of the relation, the likelihood of the sight, the largest 1.
func (x sight) likelihood() []float64 {
	list := make([]float64, relations)
	for g := range list {
		z := (x.size - relationSize(g)) / x.noise
		list[g] = -z * z / 2
	}
	most := slices.Max(list)
	for g, v := range list {
		list[g] = math.Exp(v - most)
	}
	return list
}

// relations is the number of possible sizes: 0, then from 2^(1-relations/2) to 1.
const relations = 40

func relationSize(g int) float64 {
	if g == 0 {
		return 0
	}
	return math.Exp2(float64(g-relations+1) / 2)
}

// sizes is the distribution of the sizes of relations.
type sizes []float64

// newSizes fits the distribution to sights by EM (Laird 1978): the nonparametric maximum
// likelihood. Most sights are noise alone, and to take each at its own size would count the
// noise of the highest as relation and miss that of the lowest.
func newSizes(sights []sight) sizes {
	s := make(sizes, relations)
	for g := range s {
		s[g] = 1.0 / relations
	}
	var likelihoods [][]float64
	for _, x := range sights {
		if x.noise > 0 {
			likelihoods = append(likelihoods, x.likelihood())
		}
	}
	for range expectations {
		next := make(sizes, relations)
		for _, x := range likelihoods {
			for g, p := range s.posterior(x) {
				next[g] += p / float64(len(likelihoods))
			}
		}
		if len(likelihoods) > 0 {
			s = next
		}
	}
	return s
}

// expectations is the number of steps of EM.
const expectations = 200

// posterior has the probabilities of sizes given the likelihood of each.
func (s sizes) posterior(likelihood []float64) []float64 {
	p, sum := make([]float64, len(s)), 0.0
	for g := range s {
		p[g] = s[g]*likelihood[g] + math.SmallestNonzeroFloat64
		sum += p[g]
	}
	for g := range p {
		p[g] /= sum
	}
	return p
}
