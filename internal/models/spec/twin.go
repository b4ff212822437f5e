package spec

import "d3p/internal/models/expr"

// Twin is the front end of synthetic tables: a mixture over components, within
// each of which the columns of a record are independent, every one with a
// family of its own.
type Twin struct {
	At          Position
	Components  Value[int]
	Weights     Value[string] // the prior of the components' weights
	Features    []*Feature    // in file order; absent: every declared column
	Priors      []*Definition // by family.argument, column.argument, na or column.na
	Constraints []*Constraint
}

// Feature is one column of the twin.
type Feature struct {
	Column Value[string]
	Family Value[string]
}

// Constraint is a condition that every record of a synthetic table meets: an
// expression of columns in the unit of the file and of the names of levels.
type Constraint struct {
	Text Value[string]
	Expr expr.Expr // the parsed Text; nil when it has mistakes
}

// twin reads `twin:`.
func (r *reader) twin(e entry) *Twin {
	t := &Twin{At: e.at}
	keys := r.object(e.node, "twin", fields{
		"components":  func(e entry) { t.Components = r.count(e, 1) },
		"weights":     func(e entry) { t.Weights = r.text(e) },
		"features":    func(e entry) { t.Features = r.features(e) },
		"priors":      func(e entry) { t.Priors = r.definitions(e) },
		"constraints": func(e entry) { t.Constraints = r.constraints(e) },
	})
	if keys != nil && !keys["components"] {
		r.add(e.at, "add `components: 10`", "twin has no components")
	}
	return t
}

// features reads `features:`, a family for each column.
func (r *reader) features(e entry) []*Feature {
	list, ok := r.entries(e.node, "features")
	if !ok {
		return nil
	}
	var features []*Feature
	for _, e := range list {
		if e.node == nil {
			continue
		}
		features = append(features, &Feature{
			Column: Value[string]{e.key, e.at},
			Family: r.choice(e, TwinFamilyNames()...),
		})
	}
	return features
}

// constraints reads a list of conditions.
func (r *reader) constraints(e entry) []*Constraint {
	var list []*Constraint
	for _, text := range r.texts(e) {
		list = append(list, &Constraint{text, parseExpr(text, r.problems)})
	}
	return list
}

// complete gives a twin that states no features one for every column: by its
// type.
func (t *Twin) complete(d *Data) {
	if t.Features != nil {
		return
	}
	for _, c := range d.Columns {
		if c.Type.IsSet() {
			t.Features = append(t.Features, &Feature{Value[string]{c.Name.V, t.At}, Value[string]{defaultTwinFamily(c), t.At}})
		}
	}
}

// fronts counts the blocks that describe the model.
func (s *Spec) fronts() int {
	n := 0
	for _, there := range []bool{s.Model != nil, s.Core != nil, s.Twin != nil} {
		if there {
			n++
		}
	}
	return n
}
