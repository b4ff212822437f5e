package terminal

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"d3p/internal/decimal"
)

// Progress shows step, remaining time and spent epsilon on stderr. On a terminal it is a
// bar, or words about what goes on before and after the steps. Elsewhere it writes a line
// per 5 %, at least linesApart after the line before, so that a batch job's log of a short
// fit stays empty. It never shows the loss, which depends on records.
type Progress struct {
	w       io.Writer
	bar     bool // on a terminal
	now     func() time.Time
	started time.Time // start of the first step seen
	first   int       // number of that step
	shown   int       // last multiple of 5 % that was written
	drawn   time.Time // when the bar or a line was last written
	open    bool      // a line of the terminal is not cleared
}

const linesApart = 2 * time.Second

const (
	barWidth  = 30
	clearLine = "\r\x1b[K" // of a terminal
)

// NewProgress returns a Progress that writes to w; on a terminal it is a bar.
func NewProgress(w io.Writer, bar bool) *Progress {
	return &Progress{w: w, bar: bar, now: time.Now}
}

// Steerable reports whether w is a terminal that takes control characters. The variables
// NO_COLOR, CI and TERM=dumb, which env reads, ask for plain lines.
func Steerable(w io.Writer, env func(name string) (string, bool)) bool {
	for _, name := range []string{"NO_COLOR", "CI"} {
		if value, _ := env(name); value != "" {
			return false
		}
	}
	if value, _ := env("TERM"); value == "dumb" {
		return false
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Phase replaces the line of progress on a terminal by what; elsewhere it writes nothing.
func (p *Progress) Phase(what string) {
	if p != nil && p.bar {
		p.open = true
		fmt.Fprint(p.w, clearLine, what)
	}
}

// Clear clears the line on a terminal before another is printed.
func (p *Progress) Clear() {
	if p != nil && p.open {
		p.open = false
		fmt.Fprint(p.w, clearLine)
	}
}

// Step records that step t of steps has finished, with batches at a rate. It calls
// epsilonSpent, which may be costly, only to show it.
func (p *Progress) Step(t, steps int, rate float64, epsilonSpent func() float64) {
	if p == nil {
		return
	}
	if p.started.IsZero() {
		p.started, p.first = p.now(), t
		p.drawn = p.started
	}
	percent := t * 100 / steps
	if p.bar {
		if t == steps {
			p.Phase("computing the posterior and writing the release")
		} else if now := p.now(); now.Sub(p.drawn) >= 100*time.Millisecond {
			p.drawn = now
			full := barWidth * t / steps
			p.Phase(fmt.Sprintf("%3d %% [%s%s] step %d of %d%s%s%s", percent, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full),
				t, steps, epochs(t, steps, rate), p.left(t, steps), spent(epsilonSpent())))
		}
		return
	}
	if percent < p.shown+5 {
		return
	}
	now := p.now()
	if now.Sub(p.drawn) < linesApart {
		return
	}
	p.drawn, p.shown = now, percent-percent%5
	fmt.Fprintf(p.w, "step %d of %d (%d %%)%s%s%s\n", t, steps, percent, epochs(t, steps, rate), p.left(t, steps), spent(epsilonSpent()))
}

// epochs is the number of passes over the records in t steps, in words; empty if each
// step takes every record.
func epochs(t, steps int, rate float64) string {
	if !(rate > 0 && rate < 1) { // not finite if no step draws a batch
		return ""
	}
	return fmt.Sprintf(", epoch %.1f of %.1f", rate*float64(t), rate*float64(steps))
}

// left is the remaining time in words, from the time of the steps after the first one;
// empty at the first.
func (p *Progress) left(t, steps int) string {
	if t == p.first {
		return ""
	}
	each := p.now().Sub(p.started) / time.Duration(t-p.first)
	return fmt.Sprintf(", %s left", (each * time.Duration(steps-t)).Round(time.Second/10))
}

// spent is the spent epsilon in words; empty for a run without privacy.
func spent(epsilon float64) string {
	if math.IsInf(epsilon, 1) {
		return ""
	}
	return ", epsilon spent " + decimal.Up(epsilon, 3)
}
