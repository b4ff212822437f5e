package main

import "testing"

// A sign is wrong only where both intervals exclude zero, on different sides; the
// narrowest interval is that of the smallest ratio.
func TestComparison(t *testing.T) {
	var c comparison
	reference := map[string]coefficient{
		"b[a]": {mean: 1, sd: 0.1, low: 0.8, high: 1.2}, "b[b]": {mean: -1, sd: 0.1, low: -1.2, high: -0.8}, "b[c]": {mean: 0, sd: 0.1, low: -0.2, high: 0.2},
	}
	c.add(map[string]coefficient{
		"b[a]": {1.1, 0.2, 0.7, 1.5, "resolved"},
		"b[b]": {0.5, 0.05, 0.4, 0.6, "resolved"},
		"b[c]": {0.5, 0.1, 0.3, 0.7, "partly"},
	}, reference)
	if c.all != 3 || c.hold != 1 || c.wrong != 1 || c.resolvedWrong != 1 || c.resolved != 2 || c.name != "b[b]" || c.narrowest != 0.5 {
		t.Errorf("%+v", c)
	}
}
