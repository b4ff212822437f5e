package settings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Every row is complete, and every name in it exists.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	unique := func(what string) {
		if seen[what] {
			t.Errorf("%s appears twice", what)
		}
		seen[what] = true
	}
	for _, row := range Table() {
		for _, name := range row.Names() {
			unique("--" + name)
		}
		for _, key := range append(slices.Clone(row.OldKeys), row.Key) {
			if key != "" {
				unique(key)
			}
		}
		if row.Help == "" {
			t.Errorf("%s has no help", row.Name)
		}
		if (row.Kind == Word || row.Kind == Share) != (len(row.Choices) > 0) && row.Kind != Words {
			t.Errorf("%s is of kind %d and has %d choices", row.Name, row.Kind, len(row.Choices))
		}
		if numeric := row.Kind == Number || row.Kind == Count || row.Kind == Share; numeric != (row.Range != Range{}) {
			t.Errorf("%s is of kind %d and has the range %v", row.Name, row.Kind, row.Range)
		}
		if row.Same != "" {
			Named(row.Same) // panics when there is none
		}
		for _, need := range row.Needs {
			other := Named(need.Setting)
			for _, word := range slices.Concat(need.Is, need.Not, []string{need.Rather}) {
				if word != "" && !slices.Contains(other.Choices, word) {
					t.Errorf("%s needs %s %s, which is no choice", row.Name, other.Name, word)
				}
			}
			for _, word := range append(slices.Clone(need.When), need.Unless) {
				if word != "" && row.Kind == Word && !slices.Contains(row.Choices, word) {
					t.Errorf("%s has no choice %s", row.Name, word)
				}
			}
		}
	}
	if len(seen) < 70 {
		t.Errorf("the table has %d names and keys", len(seen))
	}
}

func TestRange(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		r       Range
		words   string
		in, out []float64
	}{
		{positive(), "positive", []float64{5e-324, 1, 1e300}, []float64{0, -1, inf, -inf, math.NaN()}},
		{inside(), "above 0 and below 1", []float64{5e-324, 0.5}, []float64{0, 1, math.NaN()}},
		{atLeast(2), "at least 2", []float64{2, 3}, []float64{1, inf}},
		{Range{Low: 0, High: 1, Above: true}, "above 0 and at most 1", []float64{1}, []float64{0, 1.5}},
		{Range{Low: 0, High: 1}, "at least 0 and at most 1", []float64{0, 1}, []float64{-1, 2}},
		{Range{Low: 0, High: 1, Below: true}, "at least 0 and below 1", []float64{0}, []float64{1}},
	} {
		if c.r.String() != c.words {
			t.Errorf("%q, want %q", c.r, c.words)
		}
		for _, x := range c.in {
			if m := c.r.check(x); m != nil {
				t.Errorf("%s: %v", c.words, m)
			}
		}
		for _, x := range c.out {
			if c.r.check(x) == nil {
				t.Errorf("%s: %g is inside", c.words, x)
			}
		}
	}
}

// A value prints as the text that it is read from.
func TestPrint(t *testing.T) {
	for name, texts := range map[string][]string{
		"epsilon": {"0.5", "1e-09", "3"}, "steps": {"1", "1000000"}, "seed": {"0", "18446744073709551615"},
		"guide": {"mean_field", "custom"}, "formats": {"csv", "csv,stan"}, "accept-risk": {"a,b"}, "device": {"cuda", "cuda,cpu", "cuda:3"},
		"out": {"a folder"},
	} {
		row := Named(name)
		for _, text := range texts {
			value, mistake := row.Read(text)
			if mistake != nil || row.Print(value) != text {
				t.Errorf("%s: %q reads as %v, %v", name, text, value, mistake)
			}
		}
	}
}

// Mistakes say what to write.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"sampling=feistel":           "a Feistel network is a way to draw the batches of poisson and fixed_size (write one of them, and batches feistel beside it)",
		"sampling=fixed":             "unknown value fixed (did you mean fixed_size?)",
		"optimizer=adm":              "unknown value adm (did you mean adam?)",
		"device=cuda:x":              "unknown value cuda:x (did you mean cuda:N?)",
		"device=cpu:1":               "unknown value cpu:1 (one of: auto, cpu, cuda, cuda,cpu, cuda:N)",
		"formats=csv,csv":            "csv appears twice",
		"formats=csv,stab":           "unknown value stab (did you mean stan?)",
		"draws=1":                    "1 draw has no spread to summarise (take at least 2)",
		"draws=01":                   "1 draw has no spread to summarise (take at least 2)",
		"draws=-1":                   "-1 is not at least 0",
		"seed=-1":                    `"-1" is not a whole number that is not negative`,
		"steps=1.5":                  `"1.5" is not a whole number`,
		"steps=99999999999999999999": `"99999999999999999999" is not a whole number`,
		"epsilon=1e999":              "+Inf is not finite (1 is a common choice; d3p fit-nonprivate fits without privacy)",
		"epsilon=0":                  "0 is not positive (1 is a common choice; d3p fit-nonprivate fits without privacy)",
		"noise-aware=temper":         "temper is gone (write variance, or leave it out)",
		"momentum=1":                 "1 is not at least 0 and below 1",
	} {
		name, value, _ := strings.Cut(text, "=")
		if _, mistake := Named(name).Read(value); mistake == nil || mistake.Error() != want {
			t.Errorf("%s: %v, want %q", text, mistake, want)
		}
	}
}

// Old scripts learn what to write.
func TestGone(t *testing.T) {
	for name, want := range map[string]string{
		"--theta": "type --compat d3p for a draw of theta", "D3P_PRIOR_GRADIENT": "type --compat d3p for the prior inside", "prior_gradient": "type --compat d3p", "--stepps": "did you mean --steps?",
	} {
		if hint := Hint(name, []string{"--steps", "D3P_STEPS"}); !strings.Contains(hint, want) {
			t.Errorf("%s: %q, want %q", name, hint, want)
		}
	}
}

// A setting that the others do not use is a conflict, and nothing else is.
func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		given map[string]any
		want  string
	}{
		{map[string]any{"optimizer": "sgd", "momentum": 0.9}, ""},
		{map[string]any{"momentum": 0.0}, "momentum: only optimizer sgd uses it (type --optimizer sgd, or leave --momentum out)"},
		{map[string]any{"optimizer": "adam", "momentum": 0.9}, "momentum: optimizer adam does not use it (type --optimizer sgd, or leave --momentum out)"},
		{map[string]any{"optimizer": "sgd", "weight-decay": 1.0}, "weight-decay: optimizer sgd does not use it (type --optimizer adamw, or leave --weight-decay out)"},
		{map[string]any{"guide": "low_rank", "rank": 2}, ""},
		{map[string]any{"guide": "mean_field", "rank": 2}, "rank: guide mean_field does not use it (type --guide low_rank, or leave --rank out)"},
		{map[string]any{"guide": "delta", "init-scale": 2.0}, "init-scale: guide delta does not use it (leave one of the two out)"},
		{map[string]any{"sampling": "full", "sampling-rate": 1.0}, ""},
		{map[string]any{"sampling": "full", "sampling-rate": 0.5}, "sampling-rate: sampling full takes every record in every step (leave one of the two out)"},
		{map[string]any{"sampling": "full", "batch-size": 5}, "batch-size: sampling full takes every record in every step (leave one of the two out)"},
		{map[string]any{"batch-size": 5, "sampling-rate": 0.5}, "batch-size: sampling-rate has the same meaning (leave one of the two out)"},
		{map[string]any{"clip-quantile": 0.5}, ""},
		{map[string]any{"clip-quantile": 0.5, "clipping": "flat"}, "clip-quantile: clipping flat does not use it (type --clipping adaptive, or leave --clip-quantile out)"},
		{map[string]any{"sampling": "shuffle", "neighbours": "add_remove"}, "sampling: shuffle is not accounted for under neighbours add_remove (type --neighbours zero_out, or leave --sampling out)"},
		{map[string]any{"gradient": "vanilla"}, "gradient: vanilla is the gradient of --compat d3p"},
		{map[string]any{"device": "cpu", "max-memory": 5}, "max-memory: device cpu does not use it (leave one of the two out)"},
		{map[string]any{"device": "cuda:1", "max-memory": 5}, ""},
	} {
		var got []string
		for _, conflict := range Conflicts(c.given, c.given) {
			got = append(got, fmt.Sprintf("%s: %v", conflict.Name, conflict))
		}
		if text := strings.Join(got, "; "); text != c.want && !(c.want != "" && strings.HasPrefix(text, c.want)) {
			t.Errorf("%v: %q, want %q", c.given, text, c.want)
		}
	}
}
