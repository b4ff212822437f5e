package attack

import (
	"testing"

	"d3p/internal/stattest"
)

// The best test of membership does not refute a claim of epsilon 1, and would if the fit
// cost 6.
func TestMembershipStaysBelowEpsilon(t *testing.T) {
	stattest.SkipNumerics(t)
	const fits = 1200
	for i, method := range Methods {
		cheap, err := method.Refuted(1, fits, stattest.Alpha, uint64(2*i+1))
		if err != nil {
			t.Fatal(err)
		}
		dear, err := method.Refuted(6, fits, stattest.Alpha, uint64(2*i+2))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: at least %.3f of 1, %.3f of 6", method.Name, cheap, dear)
		if cheap > 1 || dear < 1 {
			t.Errorf("%s: %.3f of epsilon 1 and %.3f of epsilon 6 are refuted", method.Name, cheap, dear)
		}
	}
}
