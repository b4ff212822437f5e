package main

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Off a terminal there is one line per 5 %, and epsilon is computed no more
// often than it is shown.
func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	a := &app{err: &out}
	p := a.newProgress()
	clock := time.Unix(0, 0)
	p.now = func() time.Time { clock = clock.Add(time.Second); return clock }
	asked := 0
	const steps = 1000
	for step := 1; step <= steps; step++ {
		p.Step(step, steps, func() float64 { asked++; return float64(step) / steps })
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 21 || asked != 21 {
		t.Errorf("%d lines and %d questions, want 21", len(lines), asked)
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

// A run that is not private has no epsilon to show; --quiet shows nothing.
func TestProgressWithoutPrivacy(t *testing.T) {
	var out bytes.Buffer
	(&app{err: &out}).newProgress().Step(1, 1, func() float64 { return math.Inf(1) })
	if strings.Contains(out.String(), "epsilon") {
		t.Errorf("line %q", out.String())
	}
	out.Reset()
	(&app{err: &out, quiet: true}).newProgress().Step(1, 1, func() float64 { return 1 })
	if out.Len() > 0 {
		t.Errorf("--quiet printed %q", out.String())
	}
}
