package report

import (
	"bytes"
	"testing"
)

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
