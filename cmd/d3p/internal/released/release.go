// Package released reads a release: everything that the commands after a fit need.
package released

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/modelfile"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/predict"
	"d3p/internal/privacy/noise"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/spell"
	"d3p/internal/status"
	"d3p/internal/synthesis"
)

// Release is a release that was read: everything that the commands after a fit need.
type Release struct {
	Dir       string
	Files     *release.Folder
	Model     *models.Model
	Params    outputs.Parameters
	Posterior *posterior.Posterior
	Marginals *synthesis.Table // of a synthetic table by marginals; nil if the release has a posterior
	Privacy   *report.Privacy
	Drawn     Drawn // of the fit
}

// Drawn is the number of draws from the posterior, and their public seed.
type Drawn struct {
	N    int
	Seed uint64
}

// Flags are the flags that choose a command's draws.
func (d *Drawn) Flags(c *cobra.Command) {
	c.Flags().IntVar(&d.N, "draws", 0, "posterior draws to take (default as many as the fit)")
	c.Flags().Uint64Var(&d.Seed, "seed", 0, "seed of the draws, which is public (default the fit's)")
}

// OrOf is the flags' values, or else those of the release's fit.
func (d Drawn) OrOf(c *cobra.Command, r *Release) (Drawn, error) {
	if !c.Flags().Changed("seed") {
		d.Seed = r.Drawn.Seed
	}
	switch {
	case !c.Flags().Changed("draws"):
		d.N = r.Drawn.N
	default:
		return d, CheckDraws(d.N)
	}
	return d, nil
}

// CheckDraws refuses a number of draws that has no spread.
func CheckDraws(draws int) error {
	if draws < 2 {
		return status.Usagef("--draws: %d is less than 2", draws)
	}
	return nil
}

// Reader reads releases.
type Reader struct {
	Unverified bool // files as they are, not as their manifest lists them
	Notef      func(format string, args ...any)
}

// Open opens the release of a run and compares its files with the manifest. run is the
// run's folder or release/ itself.
func (o *Reader) Open(ctx context.Context, run string) (*release.Folder, error) {
	files, err := release.Open(run, o.Unverified)
	if err != nil {
		return nil, status.With(readStatus(err), alteredRun(run, err))
	}
	if o.Unverified {
		o.Notef("%s: its files were not compared with %s", run, release.ManifestName)
		return files, nil
	}
	manifest, _ := files.Manifest()
	if err = report.CheckNames(manifest); err == nil {
		err = files.Verify(ctx)
	}
	if err != nil {
		files.Close()
		return nil, status.With(readStatus(err), alteredRun(run, err))
	}
	return files, nil
}

// alteredRun adds the next command to the error of an altered release.
func alteredRun(run string, err error) error {
	if altered := new(release.Altered); errors.As(err, &altered) {
		return fmt.Errorf("%s: %w (d3p verify %s checks all; --unverified reads it anyway)", run, err, spell.Word(run))
	}
	return err
}

// readStatus is the status of an error of reading a release.
func readStatus(err error) status.Code {
	if altered := new(release.Altered); errors.As(err, &altered) {
		return status.Data
	}
	return status.Usage
}

// Read reads the release of a run. run is the run's folder or release/ itself.
func (o *Reader) Read(ctx context.Context, run string) (*Release, error) {
	r, err := o.ReadAny(ctx, run)
	if err == nil && r.Marginals != nil {
		r.Files.Close()
		return nil, status.Usagef("%s: it has noisy tables of counts and no posterior (d3p twin %s draws a synthetic table from them)", run, spell.Word(run))
	}
	return r, err
}

// ReadAny is Read, also for a release without a posterior.
func (o *Reader) ReadAny(ctx context.Context, run string) (*Release, error) {
	files, err := o.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	r, err := In(files)
	if err != nil {
		files.Close()
		return nil, status.With(readStatus(err), alteredRun(run, err))
	}
	r.Dir = run
	return r, nil
}

// In reads the release in a folder.
func In(files *release.Folder) (*Release, error) {
	lock, params, err := report.ReadRelease(files)
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	privacy, err := report.ReadPrivacy(files)
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	s, err := modelfile.ParseSpec("spec.lock.yaml", lock, func(name string) ([]byte, error) { return report.ReadPublic(files, name) })
	if err != nil {
		return nil, err
	}
	m, err := models.Compile(s)
	if err != nil {
		return nil, status.With(status.Spec, err)
	}
	if m.ByMarginals() {
		table, err := release.ReadJSON[synthesis.Table](files, report.MarginalsName)
		if err != nil {
			return nil, status.With(status.Usage, err)
		}
		return &Release{Dir: files.Path(), Files: files, Model: m, Params: params, Marginals: &table, Privacy: privacy}, nil
	}
	posterior, err := params.Posterior(m)
	if err != nil {
		return nil, status.With(status.Spec, fmt.Errorf("%s: %w", files.Path(), err))
	}
	r := &Release{Dir: files.Path(), Files: files, Model: m, Params: params, Posterior: posterior, Privacy: privacy}
	r.Drawn.N, r.Drawn.Seed, err = report.ReadDrawn(files)
	return r, status.With(status.Usage, err)
}

// Draws draws from the released posterior: post-processing, which is free. The fit's number
// and seed give draws.parquet again.
func (r *Release) Draws(d Drawn) outputs.Draws {
	if r.Marginals != nil {
		return outputs.Draws{}
	}
	return outputs.DrawPosterior(r.Model, r.Posterior, d.N, run.PosteriorRandom(d.Seed))
}

// Judged are draws with a verdict on each parameter, or without one for a fit without
// privacy.
func (r *Release) Judged(d Drawn) (outputs.Draws, *outputs.Draws, *outputs.Trace, error) {
	draws, prior := r.Draws(d), outputs.DrawPrior(r.Model, d.N, run.PriorRandom(d.Seed))
	trace, err := outputs.ReadTrace(r.Files)
	if err != nil {
		return draws, prior, nil, status.With(status.Usage, err)
	}
	if r.Privacy.Mechanism.Clip.Mode != plan.ClippingOff {
		report.Judge(r.Model, &draws, prior, trace, r.Privacy.Neighbours, r.Privacy.Mechanism, r.Privacy.Table1)
	}
	return draws, prior, trace, nil
}

// Sample holds the draws that output files contain.
func (r *Release) Sample(d Drawn) (*outputs.Sample, error) {
	sample := &outputs.Sample{
		Model: r.Params.Model, Steps: r.Params.Steps,
		Draws: r.Draws(d), Prior: outputs.DrawPrior(r.Model, d.N, run.PriorRandom(d.Seed)), Simulated: outputs.PriorPredictive(r.Model, run.SimulationRandom(d.Seed)),
	}
	return sample, status.With(status.Usage, r.Privacy.Describe(sample))
}

// Findings are the results of a release.
func (r *Release) Findings() (report.Findings, error) {
	if r.Marginals != nil {
		return report.Findings{}, nil
	}
	draws, prior, trace, err := r.Judged(r.Drawn)
	if err != nil {
		return report.Findings{}, err
	}
	fitted, err := report.ReadGuide(r.Files)
	if err != nil {
		return report.Findings{}, status.With(status.Usage, err)
	}
	rows := draws.Summarise()
	return report.Findings{
		Rows: rows, Trace: trace, Overlays: report.Overlays(draws, rows, prior, report.Panels), Guide: r.Params.Guide.Family, Fitted: fitted,
	}, nil
}

// Point reports whether the fit has only points, without a spread.
func (r *Release) Point() bool { return r.Params.Guide.Family == guide.DeltaName }

// Predictive is the posterior for predictions: draws with the seed of root, the same for
// every block of rows.
func (r *Release) Predictive(draws int, prob float64, root noise.Root) predict.Posterior {
	p := predict.Posterior{S: draws, Prob: prob, Point: r.Point()}
	var stream *noise.Stream
	p.Draw = func(theta []float64, s int) {
		if s == 0 {
			stream = root.Stream(noise.PosteriorDraws)
		}
		r.Posterior.Draws(theta, stream)
	}
	return p
}
