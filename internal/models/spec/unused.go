package spec

import "strings"

// checkUnused reports parts of the file that nothing would read.
func (b *blocks) checkUnused() {
	s := b.spec
	if m := s.Model; m != nil && m.Terms != nil && len(m.AllGroups()) == 0 && m.Parametrisation.IsSet() {
		b.Add(m.Parametrisation.At, "remove it, or add a group such as (1 | site)", "parametrisation: the formula has no groups")
	}
	if w := s.Output.Weights; w.IsSet() && len(s.Nets) == 0 {
		b.Add(w.At, "remove it", "weights: the file has no networks")
	}
	if v := s.Privacy.UnitLevel; v.IsSet() && !v.V {
		b.Add(v.At, "write unit_level: true, or remove it", "unit_level: the guarantee is always about the unit of the data block")
	}
	d := &s.Data
	if !d.Format.IsSet() || strings.HasPrefix(d.Format.V, "csv") {
		return
	}
	for _, f := range []struct {
		key   string
		value interface{ IsSet() bool }
	}{{"separator", d.Separator}, {"quotes", d.Quotes}, {"encoding", d.Encoding}} {
		if f.value.IsSet() {
			b.Add(d.Format.At, "remove "+f.key, "a file of format %s has no %s", d.Format.V, f.key)
		}
	}
	if len(d.Header) > 0 && d.Format.V == "parquet" {
		b.Add(d.Header[0].At, "remove header", "a file of format parquet has names of its columns")
	}
}
