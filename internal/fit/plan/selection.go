package plan

import (
	"encoding/json"
	"fmt"
	"math"

	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// Selection is the selection of a trial. It runs and scores one of several fits at a time
// until it stops, and releases the best one. See event.Selected.
type Selection struct {
	Epsilon    float64           `json:"epsilon"`     // target of the whole selection, at the plan's delta
	MeanTrials int               `json:"mean_trials"` // after each trial it stops with probability 1/MeanTrials
	ScoreNoise float64           `json:"score_noise"` // standard deviation of a count's noise
	Trials     []json.RawMessage `json:"trials"`      // event of each fit with its score
}

// scoreShare is the part of a trial's mu squared that its score costs.
const scoreShare = 0.2

// Select plans the fits of a selection, which plans returns for a budget, and the noise of
// their scores, so that the whole costs at most the target and almost as much.
func Select(target accountant.Target, rel event.Relation, meanTrials int, plans func(epsilon float64) ([]*Plan, error)) ([]*Plan, error) {
	whole, err := accountant.CalibrateNoise(target, rel, func(sigma float64) event.Event {
		return selected(meanTrials, []event.Event{event.Gaussian{NoiseMultiplier: sigma}})
	})
	if err != nil {
		return nil, fmt.Errorf("--epsilon: %w", err)
	}
	fit, err := accountant.Epsilon(event.Gaussian{NoiseMultiplier: whole.NoiseMultiplier / math.Sqrt(1-scoreShare)}, rel, target.Delta)
	if err != nil {
		return nil, err
	}
	unit := scoreEvent(1, rel).(event.Gaussian)
	noise := whole.NoiseMultiplier / math.Sqrt(scoreShare) / unit.NoiseMultiplier
	const tries, near, margin = 8, 0.99, 1e-4
	var found []*Plan
	for epsilon, n := fit.Upper, 0; n < tries; n++ {
		list, err := plans(epsilon)
		if err != nil {
			return nil, err
		}
		s := &Selection{Epsilon: target.Epsilon, MeanTrials: meanTrials, ScoreNoise: noise}
		for _, p := range list {
			if len(p.Levels) > 0 { // its trials may be many, and each may show a unit
				return nil, fmt.Errorf("column %s: a selection buys no levels (list them)", p.Levels[0].Column)
			}
			raw, err := event.MarshalDpEvent(s.Trial(p.MechanismEvent(p.NoiseMultiplier), rel))
			if err != nil {
				return nil, err
			}
			s.Trials = append(s.Trials, raw)
			p.Selection = s
		}
		ev, err := s.Event()
		if err != nil {
			return nil, err
		}
		price, err := accountant.Epsilon(ev, rel, target.Delta)
		switch {
		case err != nil:
			return nil, err
		case price.Upper <= target.Epsilon:
			if found = list; price.Upper >= near*target.Epsilon {
				return found, nil
			}
		case found != nil:
			return found, nil
		}
		epsilon *= target.Epsilon / price.Upper * (1 - margin)
	}
	if found == nil {
		return nil, fmt.Errorf("--epsilon: no selection of these models costs %g (type a larger --epsilon, or fewer --trials)", target.Epsilon)
	}
	return found, nil
}

// Trial is the event of a fit and its score.
func (s *Selection) Trial(fit event.Event, rel event.Relation) event.Event {
	return event.Composed{Events: []event.Event{fit, scoreEvent(s.ScoreNoise, rel)}}
}

// Event is the event of the whole selection.
func (s *Selection) Event() (event.Event, error) {
	var trials []event.Event
	for _, raw := range s.Trials {
		trial, err := event.UnmarshalDpEvent(raw)
		if err != nil {
			return nil, err
		}
		trials = append(trials, trial)
	}
	ev := selected(s.MeanTrials, trials)
	return ev, event.Validate(ev)
}

// selected is a selection among trials.
func selected(meanTrials int, trials []event.Event) event.Event {
	return event.Selected{Stop: 1 / float64(meanTrials), Of: trials}
}

// scoreEvent is the event of a score whose counts have noise of standard deviation sigma.
func scoreEvent(sigma float64, rel event.Relation) event.Event {
	return privacy.CountsEvent([]privacy.Partition{{Noise: sigma}}, rel)
}
