package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/modelfile"
	"d3p/internal/cluster"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/predict"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/run"
	"d3p/internal/score"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// trialsPerModel is the mean number of trials per model.
const trialsPerModel = 2

// mostTrials bounds the mean number of trials.
const mostTrials = 1000

func newSelect(a *app) *cobra.Command {
	var s *flags.Settings
	var trials int
	var column string
	c := &cobra.Command{
		Use:   "select DATA TEST MODEL...",
		Short: "Fit the best of several models, at the price of one selection",
		Long: `Select fits one of the model files at a time, chosen at random, and scores it on the
records of TEST with noise. After each fit it stops with probability 1/TRIALS. The fit
with the highest score is released; nothing else leaves. The whole selection has the
given budget; each fit gets far more of it than if all fits were composed.
Model files may differ in anything that a model file can state, priors and settings
too, but predict the same column.

The price holds because the number of fits is secret. So d3p prints no
progress, and you must not tell how long the selection took. If it is stopped, nothing
is released and its price stays spent.

The score is the sum over the records of TEST of 1 less the squared probability of other
levels than the one that came, or of 1 less the error over a quarter of the response's
range, up to a constant. The claim is about the records of DATA and TEST together.`,
		Example: "  d3p select --epsilon 1 train.csv test.csv simple.yaml rich.yaml --out chosen\n  d3p select --epsilon 1 --trials 10 --ledger cohort.ledger train.csv test.csv models/*.yaml",
		Args:    atLeast(4, "DATA, TEST and two model files or more"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cluster.OneProcess(); err != nil {
				return status.Usagef("%v", err)
			}
			trials = cmp.Or(trials, trialsPerModel*(len(args)-2))
			if trials < 1 || trials > mostTrials {
				return status.Usagef("--trials: %d is not between 1 and %d", trials, mostTrials)
			}
			return a.selectFit(c, s, selection{args[0], args[1], args[2:], trials, column})
		},
	}
	s = flags.Define(c, settings.Algorithm, settings.Price, settings.Running)
	c.Flags().IntVar(&trials, "trials", 0, "mean `number` of fits (default twice the number of models)")
	c.Flags().StringVar(&column, "column", "", "the response to score, of models with several")
	c.Flags().String(signFlag, "", "sign the release with the OpenSSH private key in `FILE`")
	return c
}

// selection holds the settings of a selection.
type selection struct {
	data, test string
	models     []string
	trials     int
	column     string
}

// candidate is one of the models of a selection, with its settings.
type candidate struct {
	settings *flags.Settings
	model    *models.Model
	hash     string
}

// selectFit plans the trials of a selection, runs it and prints the chosen fit.
func (a *app) selectFit(c *cobra.Command, s *flags.Settings, of selection) error {
	if err := s.Resolve(c, a.environment()); err != nil {
		return err
	}
	if err := checkDevice(s.Device); err != nil {
		return err
	}
	all, err := of.candidates(c, s)
	if err != nil {
		return err
	}
	if of.data == of.test {
		a.warnf("DATA and TEST are the same file: the score favours models that follow its noise (keep a part of the records for TEST)")
	}
	first := all[0].settings
	target, list, err := of.plans(all)
	if err != nil {
		return err
	}
	booked, err := ledgerOf(first, list[0], false)
	if err != nil {
		return err
	}
	trials, err := a.trials(c, all, list, target, of.data)
	if err != nil {
		return err
	}
	for i := range trials {
		trials[i].Booked = booked
	}
	if err := of.readable(all, list, target); err != nil {
		return err
	}
	if err := a.stopItself(c.Context()); err != nil {
		return err
	}
	a.notef("selecting among %d models with %d fits on average; how many there are is secret", len(all), of.trials)
	result, err := run.Select(c.Context(), trials, first.Out, func(ctx context.Context, folder string) (float64, error) {
		return a.utility(ctx, folder, of, list[0].Selection.ScoreNoise, target)
	})
	if err != nil {
		return err
	}
	if err := a.printFit(result); err != nil {
		return err
	}
	a.notef("Selected: %s, with a noisy score of %.6g; keep secret how long this took", result.Model, *result.Score)
	return nil
}

// trials are the fits of a selection, one for each candidate.
func (a *app) trials(c *cobra.Command, all []candidate, list []*plan.Plan, target accountant.Target, data string) (trials []run.Run, err error) {
	var jobs []run.Job
	for i, one := range all {
		a.warn(one.model.Spec.Warnings)
		whole := *list[i] // the release has the settings of the selection
		whole.Epsilon = target.Epsilon
		j, err := newJob(c, one.settings, one.model, one.hash, &whole, data)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	key, err := signingKey(c, &jobs[0])
	if err != nil {
		return nil, err
	}
	host := a.host()
	host.Step, host.Notef = nil, func(string, ...any) {}
	for i, j := range jobs { // trials must not differ in their times
		j.ID, j.Created, j.Sign = jobs[0].ID, jobs[0].Created, jobs[0].Sign
		trials = append(trials, run.Run{Job: j, Model: all[i].model, Plan: list[i], Key: key, Host: host})
	}
	return trials, nil
}

// readable reports a file that cannot be read, before the selection spends anything.
func (of selection) readable(all []candidate, list []*plan.Plan, target accountant.Target) error {
	for _, one := range all {
		for _, path := range []string{of.data, of.test} {
			_, root, err := curatorOf(one.model, list[0].Neighbours, path, privacy.Budget{Epsilon: target.Epsilon, Delta: target.Delta})
			if err != nil {
				return err
			}
			root.Wipe()
		}
	}
	return nil
}

// candidates reads the model files.
func (of selection) candidates(c *cobra.Command, s *flags.Settings) (all []candidate, err error) {
	switch {
	case s.Model != "":
		return nil, status.Usagef("--model: name the model files after DATA and TEST")
	case s.Repeat > 1:
		return nil, status.Usagef("--repeat: a selection releases one fit (leave it out)")
	case of.data == "-" || of.test == "-" || readOnce(of.data) || readOnce(of.test):
		return nil, status.Usagef("a selection reads DATA and TEST for every fit: write them to regular files")
	}
	for _, path := range of.models {
		m, hash, err := modelfile.ReadWith(path, of.data, of.test)
		if err != nil {
			return nil, err
		}
		own := s.Clone()
		own.Fit.Card = cudaNumber(own.Device) >= 0
		if err := own.ResolveModel(c, m.Spec); err != nil {
			return nil, err
		}
		own.Fit.Table1 = cmp.Or(own.Fit.Table1, settings.Table1Default)
		switch {
		case m.ByMarginals() || own.Fit.Method != "" && own.Fit.Method != settings.MethodVI:
			return nil, status.Usagef("%s: a selection is among fits by variational inference, whose predictions can be scored", path)
		case !(own.Fit.Epsilon > 0) || own.Fit.NoiseMultiplier > 0:
			return nil, status.Usagef("--epsilon: type the budget of the whole selection, such as --epsilon 1, and no --noise-multiplier")
		}
		all = append(all, candidate{own, m, hash})
	}
	return all, nil
}

// plans are the trials' plans, and the target of the selection.
func (of selection) plans(all []candidate) (target accountant.Target, list []*plan.Plan, err error) {
	first, err := plan.New(all[0].model, all[0].settings.Fit)
	if err != nil {
		return target, nil, err
	}
	target = accountant.Target{Epsilon: first.Epsilon, Delta: first.Delta}
	unit, scored := all[0].model.Spec.Data.Unit, ""
	for i, one := range all {
		fit := one.settings.Fit
		table, err := score.New(one.model, predict.Posterior{}, of.column, nil)
		if err != nil {
			return target, nil, status.Usagef("%s: %v", of.models[i], err)
		}
		switch {
		case fit.Epsilon != target.Epsilon:
			return target, nil, status.Usagef("%s: epsilon %g, and that of %s is %g: a selection has one budget (--epsilon sets it)", of.models[i], fit.Epsilon, of.models[0], target.Epsilon)
		case one.settings.Ledger != all[0].settings.Ledger:
			return target, nil, status.Usagef("%s: its ledger is %q, and that of %s is %q: a selection is booked in one (--ledger names it)", of.models[i], one.settings.Ledger, of.models[0], all[0].settings.Ledger)
		case one.model.Spec.Data.Unit.Entity.V != unit.Entity.V:
			return target, nil, status.Usagef("%s: it protects one %s, and %s one %s", of.models[i], one.model.Spec.Data.Unit.Entity.V, of.models[0], unit.Entity.V)
		case one.model.Spec.Data.Unit.ID.V != unit.ID.V: // a unit of one model would be several units of the other
			return target, nil, status.Usagef("%s: it has other units than %s (declare the same `id` in all models)", of.models[i], of.models[0])
		case i > 0 && table.Target.Name != scored:
			return target, nil, status.Usagef("%s: it predicts %s, and %s predicts %s", of.models[i], table.Target.Name, of.models[0], scored)
		}
		scored = table.Target.Name
	}
	list, err = plan.Select(target, first.Neighbours, of.trials, func(epsilon float64) (list []*plan.Plan, err error) {
		for i, one := range all {
			fit := one.settings.Fit
			fit.Epsilon, fit.Delta = epsilon, target.Delta
			p, err := plan.New(one.model, fit)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", of.models[i], err)
			}
			if p.Neighbours != first.Neighbours {
				return nil, status.Usagef("%s: %s neighbours, and %s has %s", of.models[i], p.Neighbours, of.models[0], first.Neighbours)
			}
			list = append(list, p)
		}
		return list, nil
	})
	return target, list, err
}

// utility is the noisy score of the fit in a folder.
func (a *app) utility(ctx context.Context, folder string, of selection, sigma float64, target accountant.Target) (float64, error) {
	r, err := a.releases.Read(ctx, folder)
	if err != nil {
		return math.NaN(), err
	}
	defer r.Files.Close()
	public := noise.Public(0)
	table, err := score.New(r.Model, r.Predictive(defaultPredictDraws, usualProb, public), of.column, noise.NewRandom(public.Stream(noise.Prediction)))
	if err != nil {
		return math.NaN(), err
	}
	table.ForUtility()
	curator, root, err := curatorOf(r.Model, event.Relation(r.Privacy.Neighbours.Relation), of.test, privacy.Budget{Epsilon: target.Epsilon, Delta: target.Delta})
	if err != nil {
		return math.NaN(), err
	}
	defer root.Wipe()
	counts, err := curator.CountPlaced("score of "+filepath.Base(of.test), sigma, table)
	if err != nil {
		return math.NaN(), status.With(status.Budget, err)
	}
	return table.Utility(counts[0]), nil
}
