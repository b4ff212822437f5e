package fit

import (
	"fmt"
	"slices"

	"d3p/internal/models/guide"
	"d3p/internal/privacy"
	"d3p/internal/score"
)

// askAfter makes the purchases after the last step that are not made.
func (l *Loop) askAfter(c *privacy.Curator) error {
	for _, ask := range []func(*privacy.Curator) error{l.askSideQueries, l.askSurprisals, l.askDesignEffects} {
		if err := ask(c); err != nil {
			return err
		}
	}
	return nil
}

// askSideQueries makes the plan's purchases of iterates: one release, after the last step.
func (l *Loop) askSideQueries(c *privacy.Curator) error {
	q := l.plan.SideQueries
	if q == nil || q.Counts != nil {
		return nil
	}
	p, kept := l.plan.Latent, l.state.Trace
	var placers []privacy.Placer
	var err error
	q.Each(func(quantities []string, step int) {
		var theta []float64
		if step == 0 {
			theta = kept.Mean[:p]
		} else if i := slices.Index(kept.Steps, step); i >= 0 {
			theta = kept.Mean[i*p : (i+1)*p]
		} else {
			err = fmt.Errorf("fit: the iterate after step %d is not kept", step)
			return
		}
		measure, wrong := score.NewIterate(l.plan.Model(), quantities, theta)
		if wrong != nil {
			err = wrong
			return
		}
		placers = append(placers, measure)
	})
	if err != nil {
		return err
	}
	bought := *q
	if bought.Counts, err = c.CountPlaced("trace", q.Noise, placers...); err == nil {
		l.plan.SideQueries = &bought
	}
	return err
}

// askSurprisals buys the surprisals at the end of the fit.
func (l *Loop) askSurprisals(c *privacy.Curator) error {
	q, m := l.plan.Surprisals, l.plan.Model()
	if q == nil || q.Counts != nil {
		return nil
	}
	r := l.releases()
	theta := guide.Location(r.Guide, r.Lambda)
	q = q.At(m, theta, l.plan.Law())
	counts, err := c.CountPlaced("surprisals", q.Noise, q.Placer(m, theta))
	if err != nil {
		return err
	}
	q.Counts = counts[0]
	l.plan.Surprisals = q
	return nil
}

// askDesignEffects buys the design effects at the end of the fit.
func (l *Loop) askDesignEffects(c *privacy.Curator) error {
	q, m := l.plan.DesignEffects, l.plan.Model()
	if q == nil || q.Known() {
		return nil
	}
	r := l.releases()
	q = q.At(m, guide.Location(r.Guide, r.Lambda), l.plan.Law(), l.plan.Units())
	counts, err := c.CountPlaced("design effects", q.Noise, q.Placer(m))
	if err != nil {
		return err
	}
	l.plan.DesignEffects = q.With(counts)
	l.plan.DesignEffects.Estimate(m, l.plan.Law(), float64(l.plan.Units()))
	return nil
}
