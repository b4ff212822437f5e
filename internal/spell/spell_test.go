package spell

import "testing"

func TestName(t *testing.T) {
	known := []string{"normal", "half_normal", "gamma", "beta", "--steps", "--epsilon", "epsilon", "delta"}
	for _, c := range []struct{ word, want string }{
		{"nromal", "normal"}, // a swap counts once
		{"halfnormal", "half_normal"},
		{"epsiln", "epsilon"},
		{"gama", "gamma"},
		{"--eps", "--epsilon"}, // not --steps, which is nearer
		{"GAMMA", "gamma"},
		{"zebra", ""},
		{"", ""},
		{"xy", ""},
	} {
		if got := Name(c.word, known); got != c.want {
			t.Errorf("Name(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}

func TestQuestion(t *testing.T) {
	known := []string{"normal", "poisson"}
	if got := Question("nromal", known, "another"); got != "did you mean normal?" {
		t.Errorf("question for nromal: %q", got)
	}
	if got := Question("quadratic", known, "another"); got != "another" {
		t.Errorf("question for a name that is like none: %q", got)
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "normal", "nromal", "epsilon", "epislon"}
	for _, a := range words {
		for _, b := range words {
			if distance(a, b) != distance(b, a) {
				t.Errorf("distance(%q, %q) is not symmetric", a, b)
			}
		}
		if distance(a, a) != 0 {
			t.Errorf("distance(%q, itself) = %d", a, distance(a, a))
		}
	}
}

// One letter is no misspelling of another, but it is of itself in capitals.
func TestShortNames(t *testing.T) {
	known := []string{"X", "G", "id"}
	for word, want := range map[string]string{"g": "G", "y": "", "ia": "id"} {
		if got := Name(word, known); got != want {
			t.Errorf("Name(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestHint(t *testing.T) {
	if got, want := Hint("dleta", []string{"delta"}), " (did you mean delta?)"; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
}
