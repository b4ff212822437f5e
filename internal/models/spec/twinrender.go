package spec

// renderTwin prints the twin with the family of every column and the prior of
// every argument.
func renderTwin(p *printer, t *Twin, d *Data) {
	p.block("twin", func() {
		p.count("components", t.Components)
		p.text("weights", t.Weights.Or(weightsArgument.prior))
		p.block("features", func() {
			for _, f := range t.Features {
				p.line(f.Column.V, f.Family.V)
			}
		})
		p.block("priors", func() {
			for _, f := range t.Features {
				family, c := twinFamilyOf(f.Family.V), d.Column(f.Column.V)
				for _, a := range family.args {
					p.text(c.Name.V+"."+a.name, t.prior(f, family.name, a, c).V)
				}
				if d.MissingOf(c).Rule == MissingModel {
					p.text(c.Name.V+"."+naArgument.name, t.prior(f, "", naArgument, c).V)
				}
			}
		})
		renderConstraints(p, t.Constraints)
	})
}

// renderConstraints prints the conditions on records.
func renderConstraints(p *printer, list []*Constraint) {
	if len(list) > 0 {
		p.line("constraints", flowList(list, func(c *Constraint) string { return c.Text.V }))
	}
}
