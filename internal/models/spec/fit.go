package spec

// fit reads `fit:`.
func (r *reader) fit(e entry) {
	r.block(e, fields{
		"trace":      func(e entry) { r.trace(e) },
		"microbatch": func(e entry) { r.choice(e, "auto") }, // the engine decides
	})
}

// trace reads `trace: {loss: {spend: epsilon, every: steps}}`, a clipped and
// noised loss, and says that it cannot be bought yet.
func (r *reader) trace(e entry) {
	if r.describesNothing() {
		return
	}
	what := func(e entry) {
		r.object(e.node, e.key, fields{
			"spend": func(e entry) { r.positive(e) },
			"every": func(e entry) { r.count(e, 1) },
		})
		r.Add(e.at, "remove it: the released iterates cost nothing more", "buying the %s of a fit is not available yet", e.key)
	}
	r.object(e.node, "trace", fields{"loss": what, "norms": what})
}
