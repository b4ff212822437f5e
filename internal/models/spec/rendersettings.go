package spec

import "strconv"

// renderGuide prints the guide; what the plan decides stands as auto.
func renderGuide(p *printer, g *Guide, guideDefault string) {
	p.line("type", g.Type.Or(guideDefault))
	renderInit(p, g)
	p.number("init_scale", g.InitScale)
	if g.Rank.IsSet() {
		p.count("rank", g.Rank)
	}
	renderBlocks(p, g)
	renderDefinitions(p, "params", g.Params)
	renderDefinitions(p, "free", g.Free)
	renderDefinitions(p, "rows", g.Rows)
}

// renderFit prints the settings of the algorithm.
func renderFit(p *printer, f *Fit) {
	p.block("sampling", func() {
		p.maybe("scheme", f.Scheme.V, f.Scheme.IsSet())
		if f.BatchSize.IsSet() {
			p.count("batch_size", f.BatchSize)
		} else {
			p.number("rate", f.Rate)
		}
	})
	if f.Epochs.IsSet() {
		p.number("epochs", f.Epochs)
	} else {
		p.count("iterations", f.Iterations)
	}
	p.block("clip", func() {
		p.maybe("mode", f.ClipMode.V, f.ClipMode.IsSet())
		p.number("norm", f.ClipNorm)
		p.number("quantile", f.ClipQuantile)
	})
	p.block("optimizer", func() {
		p.maybe("name", f.Optimizer.V, f.Optimizer.IsSet())
		p.number("lr", f.LearningRate)
		if f.Schedule.IsSet() {
			p.line("schedule", f.Schedule.V)
		}
		if f.Momentum.IsSet() {
			p.number("momentum", f.Momentum)
		}
		if f.WeightDecay.IsSet() {
			p.number("weight_decay", f.WeightDecay)
		}
	})
	p.number("average_last", f.AverageLast)
	p.maybe("gradient", f.Gradient.V, f.Gradient.IsSet())
	p.maybe("noise_aware", f.NoiseAware.V, f.NoiseAware.IsSet())
	if f.Compat.IsSet() {
		p.line("compat", f.Compat.V)
	}
}

// renderPrivacy prints the budget.
func renderPrivacy(p *printer, v *Privacy) {
	if v.NoiseMultiplier.IsSet() {
		p.number("noise_multiplier", v.NoiseMultiplier)
	} else {
		p.number("epsilon", v.Epsilon)
	}
	p.number("delta", v.Delta)
	p.maybe("neighbours", v.Neighbours.V, v.Neighbours.IsSet())
	if v.UnitLevel.IsSet() {
		p.line("unit_level", strconv.FormatBool(v.UnitLevel.V))
	}
	if v.Ledger.IsSet() {
		p.text("ledger", v.Ledger.V)
	}
	if v.Justification.IsSet() {
		p.text("justification", v.Justification.V)
	}
}

// renderOutput prints what a run writes.
func renderOutput(p *printer, o *Output) {
	p.count("draws", o.Draws)
	if len(o.Formats) > 0 {
		p.line("formats", flowList(o.Formats, func(v Value[string]) string { return v.V }))
	} else {
		p.line("formats", "auto")
	}
	if o.Weights.IsSet() {
		p.line("weights", o.Weights.V)
	}
	if o.Relabel.OrderBy.IsSet() {
		p.block("relabel", func() {
			p.line("order_by", o.Relabel.OrderBy.V)
			if o.Relabel.Dim.IsSet() {
				p.line("dim", o.Relabel.Dim.V)
			}
		})
	}
	renderTwinOutput(p, &o.Twin)
}

// number writes a number or auto.
func (p *printer) number(key string, v Value[float64]) {
	p.maybe(key, formatNumber(v.V), v.IsSet())
}

// count writes a whole number or auto.
func (p *printer) count(key string, v Value[int]) {
	p.maybe(key, strconv.Itoa(v.V), v.IsSet())
}
