package formula

import "math"

// Placement says where a fit may start from what is known of the response alone: the
// unconstrained numbers of parameters at which the linear predictor is constant and
// has the mean of the response, and the unit in which that predictor counts.
type Placement struct {
	Origin map[string]float64 // by parameter
	Unit   float64
}

// Place is that of a response with this mean and standard deviation, as the family
// observes it.
func (m *Model) Place(mean, sd float64) Placement {
	at := Placement{Origin: make(map[string]float64), Unit: 1}
	f := FamilyOf(m.Family.V)
	link := f.Link(m.Link.V)
	if len(m.Terms.Offsets) > 0 || link.positive || link != &f.links[0] {
		return at
	}
	switch {
	case f.scaled && sd > 0:
		at.Unit = sd
		at.Origin["Intercept"], at.Origin["sigma"] = mean, math.Log(sd)
	case f.Name == "bernoulli" && mean > 0 && mean < 1:
		at.Origin["Intercept"] = math.Log(mean / (1 - mean))
	case f.counts && f.Name != "binomial" && mean > 0:
		at.Origin["Intercept"] = math.Log(mean)
	}
	return at
}
