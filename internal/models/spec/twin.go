package spec

import (
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/models/twin"
)

// twinFields are the keys of `twin:`. The family of every column and the prior of every
// argument are printed.
func twinFields(t *twin.Twin, d *data.Data) []field {
	mixture := !t.ByMarginals()
	engine := twin.Marginals
	if mixture {
		engine = twin.Mixture
	}
	return []field{
		choice("engine", &t.Engine, twin.Marginals, twin.Mixture).as(func() string { return engine }).means("marginals: noisy tables of counts; mixture: independent columns within components; default: mixture with components, else marginals"),
		workload(&t.Workload).means("the tables of counts to keep: lists of columns, all 2-way (the default), all 3-way").when(!mixture),
		count("components", &t.Components, 1).or("auto").means("of a mixture; more than needed does little harm").when(mixture),
		text("weights", &t.Weights).printed(func(p *printer) { p.text("weights", t.Weights.Or(twin.Weights.Prior)) }).means("prior of the components' weights; default dirichlet(0.5)").when(mixture),
		named("features", &t.Features, func(r *reader, e entry) (*twin.Feature, bool) {
			return &twin.Feature{Column: e.name(), Family: r.choice(e, twin.FamilyNames()...)}, true
		}, func(p *printer, f *twin.Feature) { p.line(f.Column.V, f.Family.V) }).means("column: family; default: every column with the family of its type; see d3p help families").when(mixture),
		definitions("priors", &t.Priors).printed(func(p *printer) { p.block("priors", func() { twinPriors(p, t, d) }) }).means("family.argument for all columns of a family, column.argument for one; na or column.na for missing values").when(mixture),
		constraints(&t.Constraints).means("conditions that every synthetic record meets: expressions of columns, in the unit of the file, and levels"),
	}
}

// twinPriors prints the prior of every argument.
func twinPriors(p *printer, t *twin.Twin, d *data.Data) {
	for _, f := range t.Features {
		family, c := twin.FamilyOf(f.Family.V), d.Column(f.Column.V)
		for _, a := range family.Args {
			p.text(c.Name.V+"."+a.Name, t.Prior(f, family.Name, a, c).V)
		}
		if d.MissingOf(c).Rule == data.MissingModel {
			p.text(c.Name.V+"."+twin.Missing.Name, t.Prior(f, "", twin.Missing, c).V)
		}
	}
}

// readTwin reads `twin:`.
func (s *Spec) readTwin(r *reader, e entry) {
	s.Twin = &twin.Twin{At: e.at}
	t := s.Twin
	keys := r.object(e, "twin", twinFields(t, &s.Data))
	if keys == nil {
		return
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
}

// The names of the workloads of all sets of a size.
const allPairs, allTriples = "all 2-way", "all 3-way"

// workload is `workload:`, a list of lists of columns, or of names for all sets of a size.
func workload(at *[]*twin.Question) field {
	return field{key: "workload",
		read:   func(r *reader, e entry) { *at = r.workload(e) },
		stated: func() bool { return len(*at) > 0 },
		print: func(p *printer) {
			parts := make([]string, len(*at))
			for i, q := range *at {
				parts[i] = questionText(q)
			}
			p.line("workload", "["+strings.Join(parts, ", ")+"]")
		}}
}

func (r *reader) workload(e entry) (list []*twin.Question) {
	r.items(e, func(n ast.Node) {
		e := entry{"an element of workload", r.at(n), n}
		if _, isText := n.(*ast.StringNode); isText && !r.describesChoice([]string{allPairs, allTriples}) {
			switch v := r.text(e); v.V {
			case allPairs:
				list = append(list, &twin.Question{At: e.at, All: 2})
			case allTriples:
				list = append(list, &twin.Question{At: e.at, All: 3})
			default:
				r.Add(e.at, "write `all 2-way`, `all 3-way` or a list of columns: [age, income]", "%s is no part of a workload", v.V)
			}
			return
		}
		if columns := r.texts(e); len(columns) > 0 {
			list = append(list, &twin.Question{At: e.at, Columns: columns})
		}
	})
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

func questionText(q *twin.Question) string {
	switch q.All {
	case 2:
		return allPairs
	case 3:
		return allTriples
	}
	return flowList(q.Columns, func(c source.Value[string]) string { return c.V })
}
