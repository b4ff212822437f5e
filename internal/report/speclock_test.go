package report_test

import (
	"bytes"
	"testing"

	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
)

func TestLockFileKeepsTheModel(t *testing.T) {
	model := "d3p: 1\nname: m\n"
	settings := []report.Applied{{"epsilon", 1.0, "--epsilon"}, {"model", "a: \"b\"", "default"}}
	var out bytes.Buffer
	if err := report.LockFile([]byte(model), settings, "").Write(&out); err != nil {
		t.Fatal(err)
	}
	if got, ok := report.LockedModel(out.Bytes()); !ok || !bytes.HasSuffix(got, []byte(model)) {
		t.Errorf("locked model %q, want it to end in %q", got, model)
	}
	if _, ok := report.LockedModel([]byte(model + "---\nname: n\n")); ok {
		t.Error("two model files in one are taken for a lock")
	}
	dir := t.TempDir()
	file := report.LockFile([]byte(model), []report.Applied{{"draws", 100, "default"}, {"formats", nil, "default"}, {"seed", "18446744073709551615", "--seed"}}, "")
	reporttest.Written(t, dir, "", []release.File{file})
	if draws, seed, err := report.ReadDrawn(reporttest.Opened(t, dir, false)); err != nil || draws != 100 || seed != 1<<64-1 {
		t.Errorf("%d draws of seed %d, %v", draws, seed, err)
	}
	for _, want := range []string{"epsilon: {value: 1, source: \"--epsilon\"}", `model: {value: "a: \"b\"", source: "default"}`} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
