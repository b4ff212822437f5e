package accounting

import (
	"strings"
	"testing"
)

// Each warning comes where it is due and not at the safe side of its limit.
func TestMechanismWarnings(t *testing.T) {
	safe := func() (m Mechanism, sigma, epsilon, delta float64) {
		m.Records, m.Rate, m.Sampling = 1000, 0.001, "poisson" // one record in a batch
		return m, 1, 10, 0.000999
	}
	m, sigma, epsilon, delta := safe()
	if w := m.Warnings(sigma, epsilon, delta); len(w) != 0 {
		t.Errorf("at the limits: %q", w)
	}
	for want, change := range map[string]func(){
		"delta is not below 1/records":             func() { delta = 0.001 },
		"epsilon is above 10":                      func() { epsilon = 10.1 },
		"less than one record":                     func() { m.Rate = 0.0009 },
		"the noise counts half":                    func() { m.Sampling, sigma = "fixed_size", 0.99 },
		"nothing":                                  func() { m.Sampling, sigma = "fixed_size", 1 },
		"nothing, as nobody said how many records": func() { m.Records, delta, m.Rate = 0, 0.5, 1e-9 },
	} {
		m, sigma, epsilon, delta = safe()
		change()
		w := m.Warnings(sigma, epsilon, delta)
		if strings.HasPrefix(want, "nothing") {
			if len(w) != 0 {
				t.Errorf("%s: %q", want, w)
			}
		} else if len(w) != 1 || !strings.Contains(w[0], want) {
			t.Errorf("%q, want one with %q", w, want)
		}
	}
}
