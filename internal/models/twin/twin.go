// Package twin is the front end of synthetic tables: it checks a mixture of
// independent columns against the declared table and lowers it to the core language.
package twin

import (
	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Engines of synthetic tables: a family fitted to noisy tables of counts, or the
// mixture.
const (
	Marginals = "marginals"
	Mixture   = "mixture"
)

// Question is a set of columns whose table of counts the synthetic table should keep, or
// all sets of a number of columns.
type Question struct {
	At      expr.Position
	All     int // 0: Columns
	Columns []source.Value[string]
}

// ByMarginals reports whether the engine is Marginals, the default without components.
func (t *Twin) ByMarginals() bool {
	return t.Engine.V == Marginals || !t.Engine.IsSet() && !t.Components.IsSet()
}

// Twin is the front end of synthetic tables: a mixture over components. Within a
// component the columns of a record are independent, and each has its own family. With
// the engine Marginals the mixture only defines how records are encoded.
type Twin struct {
	At          expr.Position
	Engine      source.Value[string] // Marginals or Mixture
	Workload    []*Question          // of Marginals; none: all pairs
	Components  source.Value[int]
	Weights     source.Value[string] // the prior of the components' weights
	Features    []*Feature           // in file order; absent: every declared column
	Priors      []*core.Definition   // by family.argument, column.argument, na or column.na
	Constraints []*core.Constraint
}

// Feature is one column of the twin.
type Feature struct {
	Column source.Value[string]
	Family source.Value[string]
}

// complete gives a twin that states no features one for every column: by its
// type.
func (t *Twin) complete(d *data.Data) {
	if t.Features != nil {
		return
	}
	for _, c := range d.Columns {
		if c.Type.IsSet() {
			t.Features = append(t.Features, &Feature{source.Value[string]{V: c.Name.V, At: t.At}, source.Value[string]{V: defaultFamily(c), At: t.At}})
		}
	}
}
