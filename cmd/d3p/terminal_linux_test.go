package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pseudoTerminal opens a terminal: what is written to ours is typed there.
func pseudoTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// On a terminal init asks and writes the file; where its output goes elsewhere it prints
// the file.
func TestInitAsksOnATerminal(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "t.csv"), []byte("age,died\n71,yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ours, theirs := pseudoTerminal(t)
	start := func(out io.Writer) {
		c := exec.Command(os.Args[0], "init", "t.csv")
		c.Args[0], c.Dir, c.Stdin, c.Stdout, c.Stderr = "d3p", folder, theirs, out, theirs
		if err := c.Run(); err != nil {
			t.Error(err)
		}
	}
	var printed bytes.Buffer
	start(&printed)
	if !strings.Contains(printed.String(), "age: FILL_IN") {
		t.Errorf("printed: %s", printed.String())
	}
	fmt.Fprint(ours, "patient\n500\n18..100\n\nno, yes\ndied ~ age\nbernoulli\n\n")
	start(theirs)
	text, err := os.ReadFile(filepath.Join(folder, "t.yaml"))
	if err != nil || !strings.Contains(string(text), "levels: [\"no\", \"yes\"]") || strings.Contains(string(text), "71") {
		t.Errorf("%v\n%s", err, text)
	}
}

// A terminal gets the first lines of a table and the number of the others; a pipe gets all.
func TestTableOnATerminal(t *testing.T) {
	model, err := filepath.Abs("../../datasets/cohort.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := pseudoTerminal(t)
	print := func(out io.Writer) string {
		var notes bytes.Buffer
		c := exec.Command(os.Args[0], "simulate", "-n", "30", model)
		c.Args[0], c.Stdout, c.Stderr = "d3p", out, &notes
		if err := c.Run(); err != nil {
			t.Error(err)
		}
		return notes.String()
	}
	var piped bytes.Buffer
	if notes := print(&piped); notes != "" || strings.Count(piped.String(), "\n") != 31 {
		t.Errorf("%q, and a pipe gets %s", notes, piped.String())
	}
	if notes := print(theirs); !strings.HasPrefix(notes, "and 11 more lines; --out FILE") {
		t.Errorf("notes: %q", notes)
	}
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	shown, _ := io.ReadAll(ours) // in parts; once theirs is closed an error ends it
	if strings.Count(string(shown), "\n") != screenLines {
		t.Errorf("the terminal shows %q", shown)
	}
}

// onTerminal is what a terminal shows of a command.
func onTerminal(t *testing.T, words ...string) string {
	t.Helper()
	ours, theirs := pseudoTerminal(t)
	c := exec.Command(os.Args[0], words...)
	c.Args[0], c.Stdout, c.Stderr = "d3p", io.Discard, theirs
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CI=") || strings.HasPrefix(v, "NO_COLOR=") })
	c.Env = append(c.Env, "TERM=xterm")
	if err := errors.Join(c.Run(), theirs.Close()); err != nil {
		t.Fatal(err)
	}
	shown, _ := io.ReadAll(ours)
	return string(shown)
}

// A terminal shows what a fit does before and after its steps, and that a table is drawn, and clears it before
// anything else is printed.
func TestPhasesOnATerminal(t *testing.T) {
	model, err := filepath.Abs("../../configs/twin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data, run := filepath.Join(t.TempDir(), "data.csv"), filepath.Join(t.TempDir(), "run")
	onTerminal(t, "simulate", model, "-n", "100", "--out", data)
	const clearLine = "\r\x1b[K"
	shown := onTerminal(t, "fit", "--epsilon", "1", "--steps", "2", "--table1", "none", "--formats", "none", "--model", model, "--out", run, data)
	if _, phases, _ := strings.Cut(shown, clearLine); !strings.HasPrefix(phases, "reading the records"+clearLine+"computing the posterior and writing the release"+clearLine) {
		t.Errorf("the terminal shows %q", shown)
	}
	shown = onTerminal(t, "twin", run, "--as-fitted", "--rows", "5")
	if want := clearLine + "drawing the table" + clearLine; shown != want {
		t.Errorf("the terminal shows %q, want %q", shown, want)
	}
}
