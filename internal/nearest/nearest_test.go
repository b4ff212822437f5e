package nearest

import "testing"

func TestName(t *testing.T) {
	known := []string{"normal", "half_normal", "gamma", "beta", "epsilon", "delta"}
	for _, c := range []struct{ word, want string }{
		{"nromal", "normal"}, // a swap counts once
		{"halfnormal", "half_normal"},
		{"epsiln", "epsilon"},
		{"gama", "gamma"},
		{"zebra", ""},
		{"", ""},
		{"xy", ""},
	} {
		if got := Name(c.word, known); got != c.want {
			t.Errorf("Name(%q) = %q, want %q", c.word, got, c.want)
		}
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

func TestHint(t *testing.T) {
	if got, want := Hint("dleta", []string{"delta"}), " (did you mean delta?)"; got != want {
		t.Errorf("Hint = %q, want %q", got, want)
	}
}
