package parquet

import "testing"

// A page whose cells all are the only value of a dictionary has indices of no bits. Some programs
// write their run, others do not: https://github.com/hardwood-hq/hardwood/issues/901. One
// record decides whether there is another value, so neither is an error.
func TestIndicesOfNoBits(t *testing.T) {
	for name, b := range map[string][]byte{"a run": {0, 5 << 1}, "groups of 8": {0, 1<<1 | 1}, "no run": {0}} {
		read := func() (c Cells, err error) {
			defer recovered(&err)
			r := &ColumnReader{file: &File{}, column: Column{Kind: Float, element: element{physical: physicalDouble}}, rows: 5, scratch: new(scratch)}
			r.dictionary.Floats = []float64{2.5}
			h := pageHeader{values: 5, encoding: encodingDictionary}
			r.start(h)
			r.begun(h, b)
			r.values(&c, 5)
			return c, nil
		}
		c, err := read()
		if err != nil || len(c.Floats) != 5 || c.Floats[4] != 2.5 {
			t.Errorf("%s: %v, %v", name, c.Floats, err)
		}
	}
}
