package spec

import (
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/models/twin"
)

// twin reads `twin:`.
func (r *reader) twin(e entry) *twin.Twin {
	t := &twin.Twin{At: e.at}
	keys := r.object(e.node, "twin", fields{
		"engine":      func(e entry) { t.Engine = r.choice(e, twin.Marginals, twin.Mixture) },
		"workload":    func(e entry) { t.Workload = r.workload(e) },
		"components":  func(e entry) { t.Components = r.count(e, 1) },
		"weights":     func(e entry) { t.Weights = r.text(e) },
		"features":    func(e entry) { t.Features = r.features(e) },
		"priors":      func(e entry) { t.Priors = r.definitions(e) },
		"constraints": func(e entry) { t.Constraints = r.constraints(e) },
	})
	if keys == nil {
		return t
	}
	mixture := []string{"components", "weights", "features", "priors"}
	switch {
	case t.Engine.V == twin.Mixture && !keys["components"]:
		r.Add(e.at, "add `components: 10`", "twin has no components")
	case t.Engine.V == twin.Mixture && keys["workload"]:
		r.Add(e.at, "leave it out, or write `engine: marginals`", "a mixture has no workload")
	case t.Engine.V == twin.Marginals:
		for _, key := range mixture {
			if keys[key] {
				r.Add(e.at, "leave it out, or write `engine: mixture`", "the engine marginals has no %s", key)
			}
		}
	case !t.Engine.IsSet() && !keys["components"] && (keys["weights"] || keys["features"] || keys["priors"]):
		r.Add(e.at, "add `components: 10`", "twin has no components")
	}
	return t
}

// The names of the workloads of all sets of a size.
const allPairs, allTriples = "all 2-way", "all 3-way"

// workload reads `workload:`, a list whose elements are lists of columns, or names of all
// sets of a size.
func (r *reader) workload(e entry) (list []*twin.Question) {
	r.items(e, func(n ast.Node) {
		e := entry{"an element of workload", r.at(n), n}
		if _, isText := n.(*ast.StringNode); isText {
			if v := r.choice(e, allPairs, allTriples); v.IsSet() {
				q := &twin.Question{At: e.at, All: 2}
				if v.V == allTriples {
					q.All = 3
				}
				list = append(list, q)
			}
			if r.shape == nil {
				return
			}
		}
		if columns := r.texts(e); len(columns) > 0 {
			list = append(list, &twin.Question{At: e.at, Columns: columns})
		}
	})
	return list
}

// features reads `features:`, a family for each column.
func (r *reader) features(e entry) []*twin.Feature {
	list, ok := r.entries(e.node, "features")
	if !ok {
		return nil
	}
	var features []*twin.Feature
	for _, e := range list {
		if e.node == nil {
			continue
		}
		features = append(features, &twin.Feature{
			Column: source.Value[string]{V: e.key, At: e.at},
			Family: r.choice(e, twin.FamilyNames()...),
		})
	}
	return features
}

// constraints reads a list of conditions.
func (r *reader) constraints(e entry) []*core.Constraint {
	var list []*core.Constraint
	for _, text := range r.texts(e) {
		list = append(list, &core.Constraint{Text: text, Expr: source.ParseExpr(text, r.Problems)})
	}
	return list
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

// renderTwin prints the twin with the family of every column and the prior of
// every argument.
func renderTwin(p *printer, t *twin.Twin, d *data.Data) {
	if t.ByMarginals() {
		p.block("twin", func() {
			p.line("engine", twin.Marginals)
			if len(t.Workload) > 0 {
				parts := make([]string, len(t.Workload))
				for i, q := range t.Workload {
					parts[i] = questionText(q)
				}
				p.line("workload", "["+strings.Join(parts, ", ")+"]")
			}
			renderConstraints(p, t.Constraints)
		})
		return
	}
	p.block("twin", func() {
		p.line("engine", twin.Mixture)
		p.count("components", t.Components)
		p.text("weights", t.Weights.Or(twin.Weights.Prior))
		p.block("features", func() {
			for _, f := range t.Features {
				p.line(f.Column.V, f.Family.V)
			}
		})
		p.block("priors", func() {
			for _, f := range t.Features {
				family, c := twin.FamilyOf(f.Family.V), d.Column(f.Column.V)
				for _, a := range family.Args {
					p.text(c.Name.V+"."+a.Name, t.Prior(f, family.Name, a, c).V)
				}
				if d.MissingOf(c).Rule == data.MissingModel {
					p.text(c.Name.V+"."+twin.Missing.Name, t.Prior(f, "", twin.Missing, c).V)
				}
			}
		})
		renderConstraints(p, t.Constraints)
	})
}

func questionText(q *twin.Question) string {
	switch q.All {
	case 2:
		return allPairs
	case 3:
		return allTriples
	}
	return flowList(q.Columns, func(c source.Value[string]) string { return c.V })
}

// renderConstraints prints the conditions on records.
func renderConstraints(p *printer, list []*core.Constraint) {
	if len(list) > 0 {
		p.line("constraints", flowList(list, func(c *core.Constraint) string { return c.Text.V }))
	}
}
