package ledger

import (
	"errors"
	"math"
	"testing"

	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// A run of the epsilon that Next returns is allowed, with any number of steps, and one of
// a little more is not; then the budget is spent.
func TestNext(t *testing.T) {
	b := limited(2)
	if next, err := b.Next(); err != nil || math.Abs(next-2) > 1e-3 {
		t.Fatalf("of an empty ledger: %g, %v, want 2", next, err)
	}
	for name, ev := range map[string]event.Event{"a": run(100, 500), "b": run(50, 200)} {
		if err := b.Reserve(Run{ID: name}, ev, now); err != nil {
			t.Fatal(err)
		}
	}
	next, err := b.Next()
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := b.Accounts("")
	if err != nil {
		t.Fatal(err)
	}
	spent, err := b.Epsilon(Compose(accounts, nil))
	if err != nil || next < 2-spent {
		t.Fatalf("%g may be spent, the sum of epsilons leaves %g, %v", next, 2-spent, err)
	}
	of := func(epsilon float64) event.Event {
		c, err := accountant.CalibrateNoise(accountant.Target{Epsilon: epsilon, Delta: 1e-6}, event.AddRemove, func(sigma float64) event.Event { return run(sigma, 700) })
		if err != nil {
			t.Fatal(err)
		}
		return run(c.NoiseMultiplier, 700)
	}
	var over *privacy.BudgetError
	if err := b.Reserve(Run{ID: "next"}, of(next*1.005), now); !errors.As(err, &over) {
		t.Errorf("more than %g: %v", next, err)
	}
	if err := b.Reserve(Run{ID: "next"}, of(next), now); err != nil {
		t.Errorf("%g: %v", next, err)
	}
	if left, err := b.Next(); err != nil || left > 0.1 {
		t.Errorf("%g may be spent when nothing is left, %v", left, err)
	}
	if err := b.Settle(Run{ID: "too much"}, run(10, 100), now); err != nil {
		t.Fatal(err)
	}
	if left, err := b.Next(); err != nil || left != 0 {
		t.Errorf("%g may be spent beyond the limit, %v", left, err)
	}
}
