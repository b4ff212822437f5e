package event

import (
	"fmt"
	"math"
)

// maxDepth bounds the nesting of events, so that hostile JSON cannot exhaust the stack.
const maxDepth = 64

// Validate reports the first parameter of ev that is outside its range.
func Validate(ev Event) error { return validate(ev, 0) }

func validate(ev Event, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("event: nested deeper than %d levels", maxDepth)
	}
	if err := validateOwn(ev); err != nil {
		return err
	}
	for _, of := range within(ev) {
		if err := validate(of, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// validateOwn checks the numbers of ev itself.
func validateOwn(ev Event) error {
	switch e := ev.(type) {
	case nil:
		return fmt.Errorf("event: missing event")
	case Gaussian:
		return positive("Gaussian.NoiseMultiplier", e.NoiseMultiplier)
	case Laplace:
		return positive("Laplace.NoiseMultiplier", e.NoiseMultiplier)
	case DiscreteGaussian:
		if e.Sensitivity < 1 {
			return fmt.Errorf("event: DiscreteGaussian.Sensitivity: %d is less than 1", e.Sensitivity)
		}
		return positive("DiscreteGaussian.NoiseMultiplier", e.NoiseMultiplier)
	case EpsilonDelta:
		if !(e.Epsilon >= 0) || math.IsInf(e.Epsilon, 1) {
			return fmt.Errorf("event: EpsilonDelta.Epsilon: %v is not a finite number >= 0", e.Epsilon)
		}
		if !(e.Delta >= 0 && e.Delta < 1) {
			return fmt.Errorf("event: EpsilonDelta.Delta: %v is not in [0, 1)", e.Delta)
		}
	case PoissonSampled:
		if !(e.Rate > 0 && e.Rate <= 1) {
			return fmt.Errorf("event: PoissonSampled.Rate: %v is not in (0, 1]", e.Rate)
		}
	case FixedSizeSampled:
		if e.Batch < 1 || e.Batch > e.Population {
			return fmt.Errorf("event: FixedSizeSampled: batch %d is not between 1 and the population %d", e.Batch, e.Population)
		}
	case BallsAndBins:
		if e.Batches < 1 {
			return fmt.Errorf("event: BallsAndBins.Batches: %d is less than 1", e.Batches)
		}
	case SelfComposed:
		if e.Count < 0 {
			return fmt.Errorf("event: SelfComposed.Count: %d is negative", e.Count)
		}
	case Selected:
		if !(e.Stop > 0 && e.Stop <= 1) {
			return fmt.Errorf("event: Selected.Stop: %v is not in (0, 1]", e.Stop)
		}
		if len(e.Of) == 0 {
			return fmt.Errorf("event: Selected.Of: there is nothing to select from")
		}
	case Shuffled, Composed, NonPrivate:
	default:
		return fmt.Errorf("event: unknown event %T", ev)
	}
	return nil
}

// within are the events that ev is made of.
func within(ev Event) []Event {
	switch e := ev.(type) {
	case PoissonSampled:
		return []Event{e.Of}
	case FixedSizeSampled:
		return []Event{e.Of}
	case BallsAndBins:
		return []Event{e.Of}
	case Shuffled:
		return []Event{e.Of}
	case SelfComposed:
		return []Event{e.Of}
	case Composed:
		return e.Events
	case Selected:
		return e.Of
	}
	return nil
}

func positive(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 1) {
		return fmt.Errorf("event: %s: %v is not a finite number > 0", name, x)
	}
	return nil
}
