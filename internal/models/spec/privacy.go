package spec

import "slices"

// Privacy is the budget and the neighbouring relation. Values that the file
// does not state come from the command line or its defaults.
type Privacy struct {
	At              Position
	Epsilon         Value[float64]
	Delta           Value[float64]
	Neighbours      Value[string] // add_remove, substitute or zero_out
	NoiseMultiplier Value[float64]
	Ledger          Value[string] // path of the ledger
	UnitLevel       Value[bool]   // the unit, not the row, is what is protected
	Justification   Value[string] // why this budget: for the report
}

// relations lists the neighbouring relations.
var relations = []string{"add_remove", "substitute", "zero_out"}

// schemes lists the samplers and the neighbouring relations under which each
// one's batches are accounted for.
var schemes = []struct {
	name      string
	relations []string
}{
	{"poisson", relations},
	{"full", relations},
	{"fixed_size", []string{"substitute"}},
	{"balls_and_bins", []string{"add_remove", "zero_out"}},
	{"shuffle", relations},
}

// privacy reads `privacy:`.
func (r *reader) privacy(e entry, p *Privacy) {
	p.At = e.at
	r.settings(e.node, "privacy", fields{
		"epsilon": func(e entry) { p.Epsilon = r.positive(e) },
		"delta": func(e entry) {
			p.Delta = r.numberIn(e, "above 0 and below 1", func(x float64) bool { return x > 0 && x < 1 })
		},
		"neighbours":       func(e entry) { p.Neighbours = r.choice(e, relations...) },
		"noise_multiplier": func(e entry) { p.NoiseMultiplier = r.positive(e) },
		"ledger":           func(e entry) { p.Ledger = r.text(e) },
		"justification":    func(e entry) { p.Justification = r.text(e) },
		"unit_level":       func(e entry) { p.UnitLevel = r.boolean(e) },
	})
	if p.Epsilon.IsSet() && p.NoiseMultiplier.IsSet() {
		r.add(p.NoiseMultiplier.At, "drop one: `d3p account` gives the other", "epsilon and noise_multiplier determine each other")
	}
}

// feistel is another name of fixed_size: batches without replacement, which the
// d3p paper takes from a Feistel permutation.
const feistel = "feistel"

// scheme reads the name of a sampler.
func (r *reader) scheme(e entry) Value[string] {
	names := make([]string, len(schemes))
	for i, s := range schemes {
		names[i] = s.name
	}
	if r.describesChoice(append(names, feistel)) {
		return Value[string]{}
	}
	v := r.text(e)
	if v.V == feistel {
		v.V = "fixed_size"
	}
	if v.IsSet() && !slices.Contains(names, v.V) {
		r.add(v.At, suggest(v.V, "one of", names), "unknown scheme %s", v.V)
		return Value[string]{}
	}
	return v
}

// checkSampler reports a sampler whose privacy nobody can account for under
// the stated relation: the most repeated bug of this field.
func (b *blocks) checkSampler() {
	scheme, relation := b.spec.Fit.Scheme, b.spec.Privacy.Neighbours
	for _, s := range schemes {
		if s.name == scheme.V && scheme.IsSet() && relation.IsSet() && !slices.Contains(s.relations, relation.V) {
			b.add(scheme.At, "use scheme poisson, or neighbours "+s.relations[0], "scheme %s is not accounted for under neighbours %s", s.name, relation.V)
		}
	}
}
