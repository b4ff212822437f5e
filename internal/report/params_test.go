package report

import (
	"bytes"
	"slices"
	"testing"
)

func TestElements(t *testing.T) {
	coef := Dim{"coef", []string{"age", "sex=male"}}
	hospital := Dim{"hospital", []string{"H01", "H02"}}
	for _, c := range []struct {
		name string
		dims []Dim
		want []string
	}{
		{"Intercept", nil, []string{"Intercept"}},
		{"b", []Dim{coef}, []string{"b[age]", "b[sex=male]"}},
		{"z", []Dim{hospital, coef}, []string{"z[H01,age]", "z[H01,sex=male]", "z[H02,age]", "z[H02,sex=male]"}},
	} {
		if got := Elements(c.name, c.dims); !slices.Equal(got, c.want) {
			t.Errorf("Elements(%s) = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLockFileKeepsTheModel(t *testing.T) {
	model := "d3p: 1\nname: m\n"
	settings := []Applied{{"epsilon", 1.0, "--epsilon"}, {"model", "a: \"b\"", "default"}}
	var out bytes.Buffer
	if err := LockFile([]byte(model), settings, "").Write(&out); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(LockedModel(out.Bytes()), []byte(model)) {
		t.Errorf("locked model %q, want it to end in %q", LockedModel(out.Bytes()), model)
	}
	for _, want := range []string{"epsilon: {value: 1, source: \"--epsilon\"}", `model: {value: "a: \"b\"", source: "default"}`} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
