package tablefile

import (
	"strings"
	"testing"

	"d3p/internal/models/spec"
)

func TestOtherFormats(t *testing.T) {
	for start, want := range map[string]string{
		"ARROW1\x00\x00": "Arrow", "SQLite f": "SQLite", "\x28\xb5\x2f\xfd\x04\x00": "zstd", "\xfd7zXZ\x00\x00": "xz", "BZh91AY&": "bzip2",
		"PK\x03\x04\x14": "workbook", "PAR1\x15": "Parquet", "$FL2@(#)": "SPSS",
		"ARROW1,y": "", "BZh,age": "", "ORC,age": "", "a": "",
	} {
		if err := OtherFormat("a.csv", start); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Problem, want)) {
			t.Errorf("%q: %v, want %q", start, err, want)
		}
	}
}

func TestFormats(t *testing.T) {
	for path, want := range map[string]format{
		"a.csv": {CSV, false}, "A.CSV.GZ": {CSV, true}, "a.tsv": {CSV, false}, "a": {CSV, false},
		"a.gz": {CSV, true}, "/dev/stdin": {CSV, false}, "a.dat": {CSV, false},
		"a.parquet": {Parquet, false}, "a.pq": {Parquet, false}, "a.parquet.csv": {CSV, false},
		"x.parquet/a": {CSV, false}, "a.npy": {NPY, false}, "a.npy.gz": {NPY, true},
		"train-images-idx3-ubyte.gz": {IDX, true}, "t10k-images.idx3-ubyte": {IDX, false}, "a.idx": {IDX, false},
		"train-images-idx3-ubyte.csv": {CSV, false}, "data_batch_3.bin": {CIFAR10, false}, "c/test_batch.bin": {CIFAR10, false},
		"my_data_batch_3.bin": {CSV, false}, "data_batch_3.bin.gz": {CSV, true}, "a.bin": {CSV, false},
	} {
		if got := FormatOf(path, ""); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for declared, want := range map[string]format{
		"csv": {CSV, false}, "csv.gz": {CSV, true}, "parquet": {Parquet, false},
		"npy": {NPY, false}, "npy.gz": {NPY, true}, "idx": {IDX, false}, "idx.gz": {IDX, true}, "cifar10": {CIFAR10, false},
	} {
		if got := FormatOf("a.zip", declared); got != want {
			t.Errorf("declared %s is %v, want %v", declared, got, want)
		}
	}
	if n := len(spec.Formats()); n != 8 {
		t.Errorf("%d formats may be declared, 8 are tested", n)
	}
}
