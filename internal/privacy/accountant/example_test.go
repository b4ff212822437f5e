package accountant_test

import (
	"fmt"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// One release of a sum with Gaussian noise.
func ExampleEpsilon() {
	a, err := accountant.Epsilon(event.Gaussian{NoiseMultiplier: 4}, event.AddRemove, 1e-3)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.5f <= epsilon <= %.5f, certified: %v\n", a.Lower, a.Upper, a.Certified)
	// Output: 0.59201 <= epsilon <= 0.59201, certified: true
}

// Laplace noise is pure differential privacy: an epsilon holds at delta 0.
func ExampleEpsilon_pure() {
	a, err := accountant.Epsilon(event.SelfComposed{Of: event.Laplace{NoiseMultiplier: 8}, Count: 4}, event.AddRemove, 0)
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Upper)
	// Output: 0.5
}

// The smallest noise for 1000 steps on Poisson batches.
func ExampleCalibrateNoise() {
	target := accountant.Target{Epsilon: 1, Delta: 1e-5}
	c, err := accountant.CalibrateNoise(target, event.AddRemove, func(sigma float64) event.Event {
		return event.SelfComposed{Of: event.PoissonSampled{Rate: 0.01, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: 1000}
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f, %v\n", c.NoiseMultiplier, c.Certified.Upper <= 1)
	// Output: 1.41, true
}
