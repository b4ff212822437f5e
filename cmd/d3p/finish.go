package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"d3p/internal/fit"
	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/noise"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/signature"
)

// stopped ends a run that did not get to its last step. What was spent is in
// the ledger, and a checkpoint lets d3p resume go on. A run of which nothing was
// spent leaves nothing; one that was resumed keeps what it had.
func (a *app) stopped(folder runFolder, result fit.Result, cause error, resumed bool) error {
	folder.giveSpaceBack()
	found := statusNumeric
	var over *privacy.BudgetError
	if errors.As(cause, &over) {
		found = statusBudget
	}
	switch {
	case result.Posterior == nil && resumed:
		return failWith(found, fmt.Errorf("%w; the fit stays stopped where it was", cause))
	case result.Posterior == nil || len(result.Spent.Entries) == 0 || found == statusBudget:
		folder.discard()
		return failWith(found, cause)
	}
	checkpoint, err := result.Checkpoint()
	if err == nil {
		err = folder.write(checkpointFile, checkpoint)
	}
	spent := filepath.Join(folder.private(), ledgerFile)
	switch {
	case errors.Is(cause, fit.ErrStopped):
	case err != nil: // a state that left the range of numbers cannot be written
		return failWith(statusNumeric, fmt.Errorf("%w; what was spent is in %s", cause, spent))
	default:
		return failWith(statusNumeric, fmt.Errorf("%w; what was spent is in %s (d3p resume %s tries again from there)", cause, spent, folder.path))
	}
	if err != nil {
		return failWith(statusNumeric, errors.Join(cause, err))
	}
	return failWith(statusStopped, fmt.Errorf("stopped after %d of %d steps; what was spent is in %s (d3p resume %s goes on at no new cost)",
		result.Posterior.Steps, result.Posterior.Plan.Steps, spent, folder.path))
}

// fitResult is the JSON form of a finished fit.
type fitResult struct {
	Run     string           `json:"run"`
	Release string           `json:"release"`
	Private string           `json:"private"`
	Model   string           `json:"model"`
	Claim   string           `json:"claim"`
	Epsilon *float64         `json:"epsilon"` // null when the run is not private
	Delta   *float64         `json:"delta"`
	Summary []report.Summary `json:"summary"`
}

// release writes the files of a finished fit and prints what they say.
func (a *app) release(folder runFolder, j job, m *models.Model, result fit.Result, key *signature.Key) error {
	posterior := result.Posterior
	for i, x := range posterior.Mean {
		if math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(posterior.LogSD[i]) {
			return failWith(statusNumeric, errors.New("the posterior is not finite; a smaller --learning-rate, or priors with lighter tails, would help. What was spent is in the ledger"))
		}
	}
	// What was paid for is kept before anything else can fail.
	folder.giveSpaceBack()
	checkpoint, err := result.Checkpoint()
	if err == nil {
		err = folder.write(checkpointFile, checkpoint)
	}
	if err != nil {
		return failWith(statusNumeric, err)
	}
	run, err := a.writeRelease(folder, j, m, posterior, result.Spent, key)
	if err != nil {
		return failWith(statusStopped, fmt.Errorf("release: %w; nothing was released, and the fit is kept: d3p resume %s writes it at no new cost", err, folder.path))
	}
	folder.remove(checkpointFile)
	folder.remove(lockFile)
	if err := a.printFit(folder, run, m); err != nil {
		return err
	}
	return failWith(statusNumeric, report.Agreement(run.Draws.Summarise()))
}

// writeRelease computes and writes the files of release/.
func (a *app) writeRelease(folder runFolder, j job, m *models.Model, posterior *posterior.Posterior, ledger privacy.Ledger, key *signature.Key) (*report.Run, error) {
	rng := noise.Public(j.Seed).Stream(noise.PosteriorDraws)
	prior := report.DrawPrior(m, j.Draws, priorRandom(j.Seed))
	run := report.Run{
		ID: j.ID, Created: j.Created, Status: report.Complete, Tool: tool(j.Engine), Name: j.Name,
		Spec: m.Spec, Encoding: m.Encoding, SpecSHA256: j.ModelSHA256, Settings: j.Settings, Command: j.Command, Accepted: j.Accepted, Formats: j.Formats,
		Plan: posterior.Plan, Posterior: posterior, Params: report.ParametersOf(m, posterior),
		Draws: report.DrawPosterior(m, posterior, j.Draws, rng), Weights: report.WeightsOf(m, posterior), Trace: report.TraceOf(m, posterior), Prior: prior,
		Simulated: report.PriorPredictive(m, simulatedRandom(j.Seed)), Insecure: j.Insecure,
	}
	if run.Plan.Private {
		run.Event = ledger.Event()
		answer, err := accountant.Epsilon(run.Event, run.Plan.Neighbours, run.Plan.Delta)
		if err != nil {
			return nil, err
		}
		run.Spent = answer
	}
	booked, err := j.booking().booked(m.Spec.Data.Unit.Entity.V, posterior.Plan.Neighbours)
	if err != nil {
		return nil, err
	}
	run.Booked = booked
	files, err := run.Release()
	if err != nil {
		return nil, err
	}
	return &run, release.Write(folder.root, releaseName, files, release.Options{Banner: run.Banner(), Sign: sign(key)})
}

// printFit prints the end of a fit: the posterior, the claim, where things are.
func (a *app) printFit(folder runFolder, run *report.Run, m *models.Model) error {
	result := fitResult{
		Run: folder.path, Release: folder.release(), Private: folder.private(), Model: run.Name,
		Claim: run.Claim(), Summary: run.Draws.Summarise(),
	}
	if run.Banner() == "" {
		result.Epsilon, result.Delta = &run.Spent.Upper, &run.Plan.Delta
	}
	return a.result(result, func(w io.Writer) {
		usual := view{prob: usualProb}
		printSummary(w, result.Summary, usual)
		fmt.Fprintf(w, "\n%s\n", explain(m, usual))
		fmt.Fprintf(w, "\nClaim: %s\n", result.Claim)
		if run.Banner() != "" {
			fmt.Fprintf(w, "%s  must not be published: it reveals the records\n", result.Release)
		} else {
			fmt.Fprintf(w, "%s  may be published: draws, summaries, parameters; read privacy.html there\n", result.Release)
		}
		fmt.Fprintf(w, "%s  must not: it is not protected; datacheck.json there counts what the declared rules did to the records\n", result.Private)
	})
}
