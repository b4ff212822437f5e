package run

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/nuts"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/spell"
	"d3p/internal/status"
	"d3p/internal/table1"
)

// Result is the result of a finished fit, and its JSON form.
type Result struct {
	Run     string            `json:"run"`
	Release string            `json:"release"`
	Private string            `json:"private"`
	Model   string            `json:"model"`
	Claim   string            `json:"claim"`
	Epsilon *float64          `json:"epsilon"` // null when the run is not private
	Delta   *float64          `json:"delta"`
	Summary []outputs.Summary `json:"summary"`
	Single  string            `json:"single,omitempty"` // what the summary shows in place of a posterior, see plan.Single
	// Score is the highest score of a selection, with its noise; nil for a single fit.
	Score *float64 `json:"score,omitempty"`
	// Divergences counts the draws of the No-U-Turn sampler whose trajectory diverged.
	Divergences int `json:"divergences,omitempty"`
	// Tries are those of the chains that drew the posterior.
	Tries nuts.Tries `json:"-"`
	// Unconverged describes the parameters of a variational fit without privacy that have
	// not converged.
	Unconverged []string `json:"unconverged,omitempty"`
	// Verdict is the verdict on the statistics; nil without privacy.
	Verdict *outputs.Verdict `json:"verdict,omitempty"`
	// Levels are the levels that the fit bought.
	Levels []table1.Levels `json:"levels,omitempty"`
	// Bounds are the bounds and scales that the fit bought.
	Bounds []table1.Bounds `json:"bounds,omitempty"`
	// Fitted is the model as the release has it.
	Fitted *models.Model `json:"-"`
}

// release writes the files of a finished fit. The model is as the release has it.
func (r Run) release(m *models.Model, result *fit.Result) (*Result, error) {
	posterior := result.Posterior
	// Keep the paid numbers before anything else can fail.
	r.folder.giveSpaceBack()
	checkpoint, err := result.Checkpoint()
	if err == nil {
		err = r.folder.write(checkpointFile, checkpoint)
	}
	if err != nil {
		r.Host.Notef("no checkpoint: %v (the release follows)", err)
	}
	for i, x := range posterior.Mean {
		if math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(posterior.LogSD[i]) {
			return nil, status.With(status.Numeric, errors.New("the posterior is not finite; a smaller --learning-rate, or priors with lighter tails, would help. What was spent is in the ledger"))
		}
	}
	written, err := r.writeRelease(m, posterior, result.Spent)
	switch {
	case err != nil && r.trial:
		return nil, status.With(status.Numeric, fmt.Errorf("release: %w", err))
	case err != nil:
		return nil, status.With(status.Stopped, fmt.Errorf("release: %w; nothing was released, and the fit is kept: d3p resume %s writes it at no new cost", err, spell.Word(r.folder.path)))
	}
	r.folder.remove(checkpointFile)
	r.folder.remove(lockFile)
	done := &Result{
		Run: r.folder.path, Release: r.folder.release(), Private: r.folder.private(), Model: written.Name,
		Claim: written.Claim(), Summary: written.Rows(),
		Divergences: result.Divergences, Tries: posterior.Tries, Unconverged: result.Unconverged, Levels: posterior.Plan.Levels, Bounds: posterior.Plan.Bounds, Fitted: m,
	}
	done.Single = plan.Single(written.Plan.Clipping)
	done.Verdict = written.Whole()
	if written.Banner() == "" {
		done.Epsilon, done.Delta = &written.Spent.Upper, &written.Plan.Delta
	}
	return done, nil
}

// described is a release without its numbers. The model is as the release has it.
func (r Run) described(m *models.Model, p *posterior.Posterior) report.Run {
	j := r.Job
	run := report.Run{
		ID: j.ID, Created: j.Created, Status: report.Complete, Tool: r.Host.Tool(j.Engine), Name: j.Name,
		Spec: m.Spec, Encoding: m.Encoding, SpecSHA256: j.ModelSHA256, Settings: j.Settings, Command: j.Command, Accepted: j.Accepted, Formats: j.Formats,
		Plan: p.Plan, Posterior: p, Params: []outputs.Parameter{}, Insecure: j.Insecure,
	}
	run.Tool.Processes = j.Processes
	return run
}

// addPosterior adds the numbers of the posterior to its release.
func (r Run) addPosterior(run *report.Run, m *models.Model, draws int) {
	p := run.Posterior
	run.Params, run.Draws, run.Weights = outputs.ParametersOf(m, p), outputs.DrawPosterior(m, p, draws, PosteriorRandom(r.Job.Seed)), outputs.WeightsOf(m, p)
}

// writeRelease computes and writes the files of release/.
func (r Run) writeRelease(m *models.Model, posterior *posterior.Posterior, ledger privacy.Ledger) (*report.Run, error) {
	j, run := r.Job, r.described(m, posterior)
	r.addPosterior(&run, m, j.Draws)
	run.Trace, run.Prior, run.Simulated = outputs.TraceOf(m, posterior), outputs.DrawPrior(m, j.Draws, PriorRandom(j.Seed)), outputs.PriorPredictive(m, SimulationRandom(j.Seed))
	if s := run.Plan.Selection; s != nil {
		whole := *run.Plan
		whole.Epsilon, run.Plan = s.Epsilon, &whole
	}
	run.Judge(m)
	if run.Plan.Private {
		run.Event = ledger.Event()
		if s := run.Plan.Selection; s != nil {
			ev, err := s.Event()
			if err != nil {
				return nil, err
			}
			run.Event = ev
		}
		answer, err := accountant.Epsilon(run.Event, run.Plan.Neighbours, run.Plan.Delta)
		if err != nil {
			return nil, err
		}
		run.Spent = answer
	}
	booked, err := Booked(cmp.Or(r.Booked, j.Ledger), j.ID, m.Spec.Data.Unit.Entity.V, posterior.Plan.Neighbours)
	if err != nil {
		return nil, err
	}
	run.Booked = booked
	return &run, r.publish(&run, releaseName)
}

// publish writes the files of a release into the new folder name, signed if the run has a
// key.
func (r Run) publish(run *report.Run, name string) error {
	files, err := run.Release()
	if err != nil {
		return err
	}
	options := release.Options{Banner: run.Banner()}
	if r.Key != nil {
		options.Sign = r.Key.Sign
	}
	return release.Write(r.folder.root, name, files, options)
}

// releaseBytes bounds the size of a release and its checkpoint: the draws as
// text and as numbers, weights of networks, the numbers of the optimizer's state
// as text, and a megabyte for everything else.
func releaseBytes(m *models.Model, draws int) int64 {
	const (
		perNumber = 2*8 + 3*24 // bytes: two formats of float64, three of text
		perWeight = 8
		perState  = 8 * 24 // eight arrays of text
	)
	points := outputs.PointScalars(m)
	return 1<<20 + perWeight*int64(points) + perState*int64(m.P) + perNumber*int64(draws)*int64(m.Constrained-points+m.Quantity+3)
}
