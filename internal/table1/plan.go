// Package table1 plans and buys the first table of a paper: the number of units, and the
// spread of each column. It decides the purchase and its noise from public facts, asks
// the curator, and makes a law of the answers.
//
// Letters: N units, K columns, μ of Gaussian differential privacy.
package table1

import (
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
)

// Plan is the purchase before a fit.
type Plan struct {
	// Share is the part of μ² that all releases together take.
	Share float64 `json:"share"`
	// Releases are the releases in the order of purchase. Each is one event.
	Releases []Release `json:"releases"`
}

// Release is one release of counts or of moments.
type Release struct {
	Kind Kind `json:"kind"`
	// Noise is the standard deviation of every count's noise; of moments in units of Bound.
	Noise float64 `json:"noise"`
	// Bound is the most in L2 that a unit adds to the moments; 0: Table 1 decides it.
	Bound float64 `json:"bound,omitempty"`
	// NoiseMultiplier is the noise multiplier of the release's event.
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// Coded are the headers of columns with levels whose moments the release has: a 0/1
	// number for each level. In a release of counts of pairs they are the paired columns.
	Coded []string `json:"coded,omitempty"`
	// Open reports that the tables of groups are of columns, too, that nothing declares constant.
	Open bool `json:"open,omitempty"`
}

// Kind is the kind of a release, in the words of the ledger.
type Kind string

// The kinds of releases.
const (
	Ranges  Kind = "table 1: where numbers lie"
	Counts  Kind = "table 1: counts"
	Pairs   Kind = "table 1: pairs of levels"
	Groups  Kind = "table 1: values of groups"
	Moments Kind = "table 1: correlations"
	Closer  Kind = "table 1: a closer look at correlations"
	Second  Kind = "second moments of design and response"
)

// The rule of Auto. A count with noise of the share goodNoise of N describes a column
// well; more than poorNoise describes none. Less noise, which shows a few records far out,
// may cost cheapCounts of μ², down to bestNoise. Both come out of at most mostCounts of μ²,
// the correlations, with the error bestCorrelation, of at most mostMoments: 6 % of μ²
// together cost the fit 3.1 % more noise. Where half of mostMoments gives correlations with
// the error goodCorrelation, the other half buys counts of pairs of levels.
//
// Of few records, counts with noise of fairNoise take up to mostSmallCounts: without them a
// scale that is left to the bounds is never noticed. And correlations take up to
// mostSmallMoments: intervals must allow for all that may be, and correlations that are
// known a little narrow them by more than the price. What the errors of K columns hide is a
// direction of their matrix, of √K times the error (Wigner 1958): fairDirection is enough,
// more than poorDirection describes none. With few records for the model
// (models.FewRecords) the fit needs all of μ² itself.
const (
	goodNoise, poorNoise         = 0.01, 0.12
	cheapCounts, mostCounts      = 0.01, 0.03
	bestCorrelation              = 0.02
	goodCorrelation              = 0.05
	mostMoments                  = 0.03
	fairNoise, mostSmallCounts   = 0.09, 0.2
	fairDirection, poorDirection = 0.2, 0.9
	mostSmallMoments             = 0.2
	rareNoise                    = 20     // records
	ofRanges                     = 1. / 3 // of what counts may take, where a column needs it
)

// A mixture spends these parts of μ² on columns, which its synthetic tables then have. Its
// steps have 16 % more noise for it. Counts with noise of bestNoise of N are enough.
const (
	mixtureCounts  = 0.16
	mixtureMoments = 0.04
	mixturePairs   = 0.06
	bestNoise      = 0.0005
)

// mixture is the default purchase of a twin's mixture; nil if counts would show nothing.
func mixture(m *models.Model, mu float64, records int, rel event.Relation) *Plan {
	columns, _ := sizes(m)
	noise := math.Sqrt(float64(columns+1)/mixtureCounts) / (mu * float64(records))
	if noise > poorNoise {
		return nil
	}
	part := math.Pow(min(1, noise/bestNoise), 2)
	counts, moments, pairs, coded := part*mixtureCounts, part*mixtureMoments, part*mixturePairs, codable(m)
	if len(coded) < 2 {
		pairs, coded = 0, nil
	}
	if columns < 2 {
		moments = 0
	}
	return planned(m, mu, rel, shares{counts, moments, pairs}, coded)
}

// Auto is the default purchase of a fit of m, nil for none. mu is the μ of the whole
// budget, records the public number of units. Models of arrays, and core models that describe
// every column that they read, buy nothing. If a predictor has levels, counts should have
// noise of rareNoise records: a level of .2 % is below noise of 1 %.
func Auto(m *models.Model, mu float64, records int, rel event.Relation) *Plan {
	switch {
	case len(m.Spec.Data.Tensors) > 0:
		return nil
	case m.Spec.Twin != nil:
		return mixture(m, mu, records, rel)
	case len(m.Given()) == 0:
		return nil
	}
	columns, _ := sizes(m)
	signal := mu * float64(records)
	need, counts := countsShare(m, mu, signal)
	if fair := need * math.Pow(goodNoise/fairNoise, 2); fair > counts {
		if m.FewRecords(records) {
			return nil
		}
		counts = min(fair, mostSmallCounts)
	}
	if goodNoise*math.Sqrt(need/counts) > poorNoise {
		return nil
	}
	moments, pairs, bound := 0.0, 0.0, momentsBound(m)
	group, open := groupTables(m, mu, records)
	closer, closerBound := closerShare(m, signal, mostCloser)
	share := func(err float64) float64 { return math.Pow(bound/(err*signal), 2) }
	root := math.Sqrt(float64(columns))
	if columns < 2 || share(poorDirection/root) > mostSmallMoments {
		return planned(m, mu, rel, shares{counts: counts}, nil).withGroups(m, group, open, mu, rel)
	}
	moments = min(share(bestCorrelation), max(mostMoments, min(share(fairDirection/root), mostSmallMoments)))
	coded := codable(m)
	if share(goodCorrelation) > mostMoments/2 {
		coded = nil
	}
	for tables := 0.0; len(coded) > 0; coded = coded[:len(coded)-1] {
		if tables = float64(len(coded)*(len(coded)-1)) / 2; tables == 0 {
			break
		}
		pairs = min(tables/(rareNoise*rareNoise*mu*mu), mostMoments/2)
		if sparse(m, coded, records) <= math.Sqrt(tables/pairs)/mu {
			pairs = 0
			continue
		}
		moments = min(moments, mostMoments/2)
		break
	}
	return planned(m, mu, rel, shares{counts, moments, pairs}, coded).withGroups(m, group, open, mu, rel).withCloser(closer, closerBound, mu)
}

// countsShare is the part of μ² that noise of goodNoise of N needs, and the part that counts take of many
// records; signal is μN.
func countsShare(m *models.Model, mu, signal float64) (need, share float64) {
	columns, numbers := sizes(m)
	need = float64(columns+1) / (goodNoise * goodNoise * signal * signal)
	if numbers > 0 {
		need /= 1 - ofRanges
	}
	share = need
	if hasLevels(m) {
		share = max(need, float64(columns+1)/(rareNoise*rareNoise*mu*mu))
	}
	return need, min(max(share, min(cheapCounts, need*math.Pow(goodNoise/bestNoise, 2))), mostCounts)
}

// mostLevels bounds the levels of a coded column.
const mostLevels = 40

// codable are the predictors, of a mixture all columns, with levels that counts of pairs
// may be about, those with the fewest levels first. There are none if a column is constant
// within groups, because a law deals out its values to levels.
func codable(m *models.Model) (columns []string) {
	d := &m.Spec.Data
	if slices.ContainsFunc(d.AllColumns(), func(c *data.Column) bool { return d.Group(c) != nil }) {
		return nil
	}
	var fields []encoding.Field
	of := m.Encoding.Predictors()
	if m.Spec.Twin != nil {
		of = m.Encoding
	}
	for _, f := range of.Columns() {
		if len(f.Levels) > 1 && len(f.Levels) <= mostLevels {
			fields = append(fields, f)
		}
	}
	slices.SortStableFunc(fields, func(a, b encoding.Field) int { return len(a.Levels) - len(b.Levels) })
	for _, f := range fields {
		columns = append(columns, f.Column)
	}
	return columns
}

// sparse is the mean count in the largest table of two coded columns.
func sparse(m *models.Model, coded []string, records int) float64 {
	last := len(coded) - 1
	return float64(records) / float64(len(find(m, coded[last]).Levels)*len(find(m, coded[last-1]).Levels))
}

// hasLevels reports whether the model predicts from levels.
func hasLevels(m *models.Model) bool {
	return slices.ContainsFunc(m.Encoding.Predictors().Fields, func(f encoding.Field) bool { return f.Levels != nil })
}

// Of is a plan that spends share of μ², in (0, 1), on this number of records: a fifth on the values of groups
// if there are any, at most Auto's part where only open columns need them; three fifths of the rest on
// counts, and two on correlations if the model reads more than one column, a fourth of which is for closer
// looks.
func Of(m *models.Model, share, mu float64, records int, rel event.Relation) *Plan {
	groups, open := groupTables(m, mu, records)
	if len(groupColumns(m, false)) > 0 {
		groups = share
	}
	groups = min(groups, share/5)
	rest := share - groups
	if columns, _ := sizes(m); columns < 2 && groups == 0 {
		return planned(m, mu, rel, shares{counts: share}, nil)
	}
	closer, bound := closerShare(m, mu*float64(records), rest/10)
	return planned(m, mu, rel, shares{counts: 0.6 * rest, moments: 0.4*rest - closer}, nil).withGroups(m, groups, open, mu, rel).withCloser(closer, bound, mu)
}

// shares are the parts of μ² that go to counts, moments and pairs of levels.
type shares struct{ counts, moments, pairs float64 }

// planned is the plan that spends of on m, and its pairs on the coded columns.
func planned(m *models.Model, mu float64, rel event.Relation, of shares, coded []string) *Plan {
	p := &Plan{Share: of.counts + of.moments + of.pairs}
	columns, numbers := sizes(m)
	if numbers > 0 {
		p.count(Ranges, numbers, mu*math.Sqrt(of.counts*ofRanges), rel)
		of.counts *= 1 - ofRanges
	}
	p.count(Counts, columns+1, mu*math.Sqrt(of.counts), rel)
	if of.pairs > 0 {
		p.count(Pairs, len(coded)*(len(coded)-1)/2, mu*math.Sqrt(of.pairs), rel)
		p.Releases[len(p.Releases)-1].Coded = coded
	}
	if of.moments > 0 {
		sigma := 1 / (mu * math.Sqrt(of.moments))
		p.Releases = append(p.Releases, Release{Kind: Moments, Noise: sigma, Bound: momentsBound(m), NoiseMultiplier: sigma, Coded: coded})
	}
	return p
}

// withGroups adds the release of the values of groups, of open columns, too, or not, which takes share
// of μ²; none for 0. It is bought before correlations.
func (p *Plan) withGroups(m *models.Model, share float64, open bool, mu float64, rel event.Relation) *Plan {
	if share > 0 {
		r := noiseOf(len(groupColumns(m, open)), mu*math.Sqrt(share), rel)
		r.Kind, r.Open = Groups, open
		at := len(p.Releases)
		if p.Correlates() {
			at--
		}
		p.Releases = slices.Insert(p.Releases, at, r)
		p.Share += share
	}
	return p
}

// count adds a release of a number of partitions with equal noise that takes mu.
func (p *Plan) count(kind Kind, partitions int, mu float64, rel event.Relation) {
	r := noiseOf(partitions, mu, rel)
	r.Kind = kind
	p.Releases = append(p.Releases, r)
}

// noiseOf is the noise of a release of a number of partitions with equal noise that takes
// mu.
func noiseOf(partitions int, mu float64, rel event.Relation) (r Release) {
	r.Noise = math.Sqrt(float64(partitions)) / (mu * multiplier(1, 1, rel))
	r.NoiseMultiplier = multiplier(partitions, r.Noise, rel)
	return r
}

// multiplier is the noise multiplier of a number of partitions with equal noise.
func multiplier(partitions int, noise float64, rel event.Relation) float64 {
	return privacy.CountsEvent(slices.Repeat([]privacy.Partition{{Noise: noise}}, partitions), rel).(event.Gaussian).NoiseMultiplier
}

// Events are the events of the releases, in their order; none for a nil plan.
func (p *Plan) Events() []event.Event {
	if p == nil {
		return nil
	}
	var list []event.Event
	for _, r := range p.Releases {
		list = append(list, event.Gaussian{NoiseMultiplier: r.NoiseMultiplier})
	}
	return list
}

// Contradiction names the first part of a purchase before a fit of m that contradicts another: a release whose noise
// multiplier is not that of its noise, or the share of μ² that all take; "": none. mu 0 leaves out the share.
// bought are the bounds and scales of m that were bought, whose ranges are not.
func (p *Plan) Contradiction(m *models.Model, bought []Bounds, mu float64, rel event.Relation) string {
	columns, numbers := sizes(m)
	for _, f := range m.Encoding.Columns() {
		if isLooked(m, f) && slices.ContainsFunc(bought, func(b Bounds) bool { return m.Spec.Data.Column(b.Column).HeaderName() == f.Column }) {
			numbers--
		}
	}
	square := 0.0
	for _, r := range p.Releases {
		parts, z := 0, r.Noise
		switch r.Kind {
		case Ranges:
			parts = numbers
		case Counts:
			parts = columns + 1
		case Pairs:
			parts = len(r.Coded) * (len(r.Coded) - 1) / 2
		case Groups:
			parts = len(groupColumns(m, r.Open))
		}
		if parts > 0 {
			z = multiplier(1, r.Noise, rel) / math.Sqrt(float64(parts)) // a forged release may name any number
		}
		moments := r.Kind == Moments || r.Kind == Closer || r.Kind == Second
		if !equal(z, r.NoiseMultiplier) || moments != (parts == 0) || r.Bound != 0 && !moments {
			return string(r.Kind)
		}
		square += 1 / (z * z)
	}
	if mu > 0 && !equal(square/(mu*mu), p.Share) {
		return "the share of Table 1"
	}
	return ""
}

// equal allows for other machines' last bits.
func equal(x, y float64) bool { return math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y)) }

// Correlates reports whether correlations are bought.
func (p *Plan) Correlates() bool { return p.release(Moments) != nil }

// LooksCloser reports whether closer looks are bought.
func (p *Plan) LooksCloser() bool { return p.release(Closer) != nil }

// Precise reports whether the noise of the correlations of `records` units is at most
// goodCorrelation.
func (p *Plan) Precise(records int) bool {
	r := p.release(Moments)
	return r != nil && r.Noise*r.Bound <= goodCorrelation*float64(records)*(1+1e-9)
}

// release is the release of a kind, or nil.
func (p *Plan) release(kind Kind) *Release {
	for i := range p.Releases {
		if p.Releases[i].Kind == kind {
			return &p.Releases[i]
		}
	}
	return nil
}

// sizes returns the number of columns that the model reads, and the number of those whose
// range is bought.
func sizes(m *models.Model) (columns, numbers int) {
	for _, f := range m.Encoding.Columns() {
		columns++
		if isLooked(m, f) {
			numbers++
		}
	}
	return columns, numbers
}

// isLooked reports whether Table 1 buys the range of a column. It does not if the bounds or
// the scale are bought separately.
func isLooked(m *models.Model, f encoding.Field) bool { return ranged(f) && !find(m, f.Column).Buys() }

// ranged reports whether a column holds numbers that lie anywhere between their bounds:
// whole numbers with few values have a cell each.
func ranged(f encoding.Field) bool {
	if f.Levels != nil {
		return false
	}
	whole := f.Type == data.Integer || f.Type == data.Date
	return !whole || *f.Upper-*f.Lower >= singleValues
}

// momentsBound is the norm in L2 of the upper triangle of xxᵀ where x are 1 and K independent
// normals, on average, and a quarter more; times the rows of a unit.
func momentsBound(m *models.Model) float64 {
	columns, _ := sizes(m)
	return boundOfSquares(columns) * float64(max(m.Encoding.RowsPerUnit, 1))
}

// boundOfSquares is momentsBound of a row with this number of columns.
func boundOfSquares(columns int) float64 {
	k := float64(columns)
	return 1.25 * math.Sqrt(1+4*k+k*(k-1)/2)
}
