package terminal

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Off a terminal a long run writes one line per 5 %, and epsilon is computed no
// more often than it is shown.
func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, false)
	clock := time.Unix(0, 0)
	p.now = func() time.Time { clock = clock.Add(time.Second); return clock }
	asked := 0
	const steps = 1000
	for step := 1; step <= steps; step++ {
		p.Step(step, steps, []float64{1, math.NaN()}[step%2], func() float64 { asked++; return float64(step) / steps })
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 20 || asked != 20 {
		t.Errorf("%d lines and %d questions, want 20", len(lines), asked)
	}
	form := regexp.MustCompile(`^step \d+ of 1000 \(\d+ %\)(, [0-9.hms]+ left)?, epsilon spent [0-9.]+$`)
	for _, line := range lines {
		if !form.MatchString(line) {
			t.Errorf("line %q", line)
		}
	}
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "step 1000 of 1000 (100 %), 0s left, epsilon spent 1") {
		t.Errorf("last line %q", last)
	}
}

// Off a terminal lines are two seconds apart or more: a run of one second
// writes none, one of ten seconds a few.
func TestProgressLinesApart(t *testing.T) {
	for _, c := range []struct {
		step  time.Duration
		lines int
	}{{time.Millisecond, 0}, {10 * time.Millisecond, 4}} {
		var out bytes.Buffer
		p := NewProgress(&out, false)
		clock := time.Unix(0, 0)
		p.now = func() time.Time { return clock }
		for step := 1; step <= 1000; step++ {
			p.Step(step, 1000, 1, func() float64 { return 1 })
			clock = clock.Add(c.step)
		}
		if got := strings.Count(out.String(), "\n"); got != c.lines {
			t.Errorf("steps of %v: %d lines, want %d:\n%s", c.step, got, c.lines, out.String())
		}
	}
}

// On a terminal one line is drawn anew ten times a second, says what follows the steps, and is cleared once.
func TestProgressBar(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	p := &Progress{w: &out, bar: true, now: func() time.Time { return clock }}
	p.Clear()
	p.Phase("reading")
	if want := "\r\x1b[Kreading"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	out.Reset()
	for step := 1; step <= 100; step++ {
		p.Step(step, 100, 0.25, func() float64 { return float64(step) / 100 })
		clock = clock.Add(50 * time.Millisecond)
	}
	drawn := strings.Split(out.String(), "\r\x1b[K")
	if len(drawn) != 51 || drawn[50] != "computing the posterior and writing the release" { // at steps 3, 5, ..., 99, and the end
		t.Fatalf("%d times drawn, last %q", len(drawn)-1, drawn[len(drawn)-1])
	}
	if want := " 51 % [===============               ] step 51 of 100, epoch 12.8 of 25.0, 2.5s left, epsilon spent 0.51"; drawn[25] != want {
		t.Errorf("%q\nwant %q", drawn[25], want)
	}
	if strings.Contains(out.String(), "\n") {
		t.Error("a line was ended")
	}
	out.Reset()
	p.Clear()
	p.Clear()
	if out.String() != clearLine {
		t.Errorf("%q, want one cleared line", out.String())
	}
	none := NewProgress(&out, false)
	none.Phase("reading")
	none.Clear()
	(*Progress)(nil).Clear()
	if out.String() != clearLine {
		t.Errorf("off a terminal: %q", out.String())
	}
}

// A run that is not private has no epsilon to show; nil shows nothing.
func TestProgressWithoutPrivacy(t *testing.T) {
	var out bytes.Buffer
	clock := time.Unix(0, 0)
	twoSteps := func(p *Progress, epsilon float64) {
		if p != nil {
			p.now = func() time.Time { clock = clock.Add(time.Minute); return clock }
		}
		p.Step(1, 2, 1, func() float64 { return epsilon })
		p.Step(2, 2, 1, func() float64 { return epsilon })
	}
	twoSteps(NewProgress(&out, false), math.Inf(1))
	if !strings.Contains(out.String(), "step 2 of 2") || strings.Contains(out.String(), "epsilon") {
		t.Errorf("line %q", out.String())
	}
	out.Reset()
	twoSteps(nil, 1)
	if out.Len() > 0 {
		t.Errorf("nil printed %q", out.String())
	}
}
