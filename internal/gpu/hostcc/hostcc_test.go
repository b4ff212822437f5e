package hostcc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The same text is compiled once; another text, or another argument, is compiled again.
func TestBuildByContent(t *testing.T) {
	compiler, err := Compiler()
	if err != nil {
		t.Skip("no C++ compiler")
	}
	t.Setenv("GOCACHE", t.TempDir())
	header := filepath.Join(t.TempDir(), "answer.h")
	build := func(answer string, more ...string) string {
		t.Helper()
		if err := os.WriteFile(header, []byte("#define ANSWER "+answer+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		source, err := Source("#include <cstdio>\n#include \"" + header + "\"\nint main() { std::puts(ANSWER EXTRA); }\n")
		if err != nil {
			t.Fatal(err)
		}
		file, err := Build(compiler, append([]string{source}, more...), []string{header})
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	said := func(file string) string {
		out, err := exec.Command(file).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	first := build(`"a"`, `-DEXTRA=""`)
	made, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	if again := build(`"a"`, `-DEXTRA=""`); again != first {
		t.Error("the same text was given another name")
	} else if now, err := os.Stat(again); err != nil || !os.SameFile(made, now) {
		t.Errorf("the same text was compiled again (%v)", err)
	}
	for want, file := range map[string]string{"a": first, "b": build(`"b"`, `-DEXTRA=""`), "a!": build(`"a"`, `-DEXTRA="!"`)} {
		if got := said(file); got != want {
			t.Errorf("the program prints %q, want %q", got, want)
		}
	}
	if _, err := Build(compiler, []string{"-x", "c++", "-DEXTRA", header + "none"}, nil); err == nil {
		t.Error("a file that is missing was compiled")
	}
}
