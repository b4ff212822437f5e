package records

import (
	"testing"

	"d3p/internal/models/spec"
)

func TestFormats(t *testing.T) {
	for path, want := range map[string]format{
		"a.csv": {csvFormat, false}, "A.CSV.GZ": {csvFormat, true}, "a.tsv": {csvFormat, false}, "a": {csvFormat, false},
		"a.gz": {csvFormat, true}, "/dev/stdin": {csvFormat, false}, "a.dat": {csvFormat, false},
		"a.parquet": {parquetFormat, false}, "a.pq": {parquetFormat, false}, "a.parquet.csv": {csvFormat, false},
		"x.parquet/a": {csvFormat, false}, "a.npy": {npyFormat, false}, "a.npy.gz": {npyFormat, true},
		"train-images-idx3-ubyte.gz": {idxFormat, true}, "t10k-images.idx3-ubyte": {idxFormat, false}, "a.idx": {idxFormat, false},
		"train-images-idx3-ubyte.csv": {csvFormat, false},
	} {
		if got := formatOf(path, ""); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for declared, want := range map[string]format{
		"csv": {csvFormat, false}, "csv.gz": {csvFormat, true}, "parquet": {parquetFormat, false},
		"npy": {npyFormat, false}, "npy.gz": {npyFormat, true}, "idx": {idxFormat, false}, "idx.gz": {idxFormat, true},
	} {
		if got := formatOf("a.zip", declared); got != want {
			t.Errorf("declared %s is %v, want %v", declared, got, want)
		}
	}
	if n := len(spec.Formats()); n != 7 {
		t.Errorf("%d formats may be declared, 7 are tested", n)
	}
}
