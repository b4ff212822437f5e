package interview

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/models/skeleton"
	"d3p/internal/models/spec"
)

// check returns the first mistake that is no blank.
func check(text []byte) error {
	_, errs := spec.Parse("", text, nil)
	for _, e := range errs {
		if !strings.HasSuffix(e.Message, spec.Unfilled) {
			return e
		}
	}
	return nil
}

// The answers of an interview make a model file without a blank; a wrong answer is asked
// for again, and an empty one leaves a blank.
func TestInterview(t *testing.T) {
	columns := func() (list []skeleton.Described) {
		for _, name := range []string{"pid", "age", "visits", "blood group", "stage", "seen", "died", "note"} {
			list = append(list, skeleton.Described{Name: name})
		}
		return list
	}
	answers := []string{
		"patient", "many", "4000", "id", "100..18", "18..100", "60", "60 20", "0..12 whole", "", "A, B, AB, 0",
		"low < middle < high", "2015-01-01..2024-12-31", "no, yes", "-",
		"died ~ agee", "bernoulli", "died ~ age + visits + blood_group + stage + seen", "bernoulli",
	}
	run := func(answers []string) (string, string, error) {
		var asked bytes.Buffer
		i := Interview{bufio.NewScanner(strings.NewReader(strings.Join(answers, "\n") + "\n")), &asked, check}
		text, err := i.Run(columns(), skeleton.Known{})
		return string(text), asked.String(), err
	}
	text, asked, err := run(answers)
	if err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]int{"public number:": 2, "pid: age:": 1, "deviation": 3, "formula, such as": 2, "did you mean age?": 1} {
		if got := strings.Count(asked, question); got != want {
			t.Errorf("%q is asked %d times, want %d\n%s", question, got, want, asked)
		}
	}
	s, errs := spec.Parse("m.yaml", []byte(text), nil)
	if len(errs) != 1 || errs[0].Message != "rows_per_unit is still to be filled in" {
		t.Fatalf("%v\n%s", errs, text)
	}
	if got := strings.Join(s.Data.ColumnNames(), " "); got != "age visits blood_group stage seen died" {
		t.Errorf("columns %s", got)
	}
	if center, by := s.Data.Column("age").Scale(); center != 60 || by != 20 || s.Data.Column("visits").Type.V != "integer" || s.Data.Column("stage").Type.V != "ordinal" {
		t.Errorf("age %g by %g\n%s", center, by, text)
	}
	if _, _, err := run(answers[:5]); err != errNoAnswers {
		t.Errorf("answers that end: %v", err)
	}
	// Nothing is known: every blank is left.
	blank, _, err := run(make([]string, 12))
	if err != nil {
		t.Fatal(err)
	}
	_, errs = spec.Parse("m.yaml", []byte(blank), nil)
	for _, e := range errs {
		if !strings.HasSuffix(e.Message, spec.Unfilled) {
			t.Errorf("%v\n%s", e, blank)
		}
	}
	if len(errs) != 12 {
		t.Errorf("%d blanks, want 12: %v", len(errs), errs)
	}
}

// A file that exists is not replaced.
func TestInterviewWrites(t *testing.T) {
	folder := t.TempDir()
	taken, free := filepath.Join(folder, "a.yaml"), filepath.Join(folder, "b.yaml")
	if err := os.WriteFile(taken, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	i := Interview{bufio.NewScanner(strings.NewReader(taken + "\n" + free + "\n\n")), &bytes.Buffer{}, check}
	if err := i.Write([]byte("new"), taken); err != nil {
		t.Fatal(err)
	}
	if err := i.Write([]byte("new"), taken); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("the default is replaced: %v", err)
	}
	for path, want := range map[string]string{taken: "mine", free: "new"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
