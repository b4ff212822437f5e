package spell

import (
	"os/exec"
	"testing"
)

func TestWord(t *testing.T) {
	for path, want := range map[string]string{
		"run": "run", "/a/b-1.csv": "/a/b-1.csv", "~/é": "~/é", `C:\d\x.csv`: `C:\d\x.csv`,
		"my run": "'my run'", "it's": `'it'\''s'`, "a$b": "'a$b'", "": "''", "x;y": "'x;y'", "a*": "'a*'",
	} {
		got := Word(path)
		if got != want {
			t.Errorf("%q is typed as %s, want %s", path, got, want)
		}
		if got == path {
			continue
		}
		if said, err := exec.Command("sh", "-c", "printf %s "+got).Output(); err == nil && string(said) != path {
			t.Errorf("a shell takes %s for %q", got, said)
		}
	}
}
