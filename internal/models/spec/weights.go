package spec

// checkWeights reports weights that are no column of numbers from 0 on.
func (r *reader) checkWeights(d *Data) {
	w := d.Weights
	if !w.IsSet() {
		return
	}
	switch c := d.Column(w.V); {
	case c == nil:
		r.add(w.At, suggest(w.V, "columns", d.columnNames()), "undeclared column %s in weights", w.V)
	case c.Type.IsSet() && !c.Numeric():
		r.add(w.At, "", "weights must be numbers, but %s is %s", c.Name.V, c.Type.V)
	case c.Lower.IsSet() && c.Lower.V < 0:
		r.add(c.Lower.At, "", "%s is a weight: its lower bound must be at least 0, not %s", c.Name.V, formatNumber(c.Lower.V))
	}
}
