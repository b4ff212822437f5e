package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/status"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/run"
	"d3p/internal/synthesis"
)

// released is a release read back: all that the commands after a fit work from.
type released struct {
	dir       string
	files     *release.Folder
	model     *models.Model
	params    outputs.Parameters
	posterior *posterior.Posterior
	marginals *synthesis.Table // of a synthetic table by marginals; nil: the release has a posterior
	privacy   *report.Privacy
	drawn     drawn // by the fit
}

// drawn says which draws from the posterior are taken: how many, and their public
// seed.
type drawn struct {
	n    int
	seed uint64
}

// unverifiedFlag defines --unverified for a command that reads releases.
func (a *app) unverifiedFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.unverified, "unverified", false, "read a release whose files are not those of its manifest all the same")
}

// openRelease opens the release of a run and compares its files with the manifest;
// run is its folder, or release/ itself.
func (a *app) openRelease(ctx context.Context, run string) (*release.Folder, error) {
	files, err := release.Open(run, a.unverified)
	if err != nil {
		return nil, status.With(readStatus(err), alteredRun(run, err))
	}
	if a.unverified {
		a.notef("%s: its files were not compared with %s", run, release.ManifestName)
		return files, nil
	}
	if err := files.Verify(ctx); err != nil {
		files.Close()
		return nil, status.With(readStatus(err), alteredRun(run, err))
	}
	return files, nil
}

// alteredRun adds to the error of a release that was altered what to type next.
func alteredRun(run string, err error) error {
	if altered := new(release.Altered); errors.As(err, &altered) {
		return fmt.Errorf("%s: %w (d3p verify %[1]s checks all; --unverified reads it all the same)", run, err)
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

// readReleased reads the release of a run; run is its folder, or release/ itself.
func (a *app) readReleased(ctx context.Context, run string) (*released, error) {
	r, err := a.readAnyReleased(ctx, run)
	if err == nil && r.marginals != nil {
		r.files.Close()
		return nil, status.Usagef("%s: it has noisy tables of counts and no posterior (d3p twin %[1]s draws a synthetic table from them)", run)
	}
	return r, err
}

// readAnyReleased is readReleased, also of a release without posterior.
func (a *app) readAnyReleased(ctx context.Context, run string) (*released, error) {
	files, err := a.openRelease(ctx, run)
	if err != nil {
		return nil, err
	}
	r, err := releasedIn(files)
	if err != nil {
		files.Close()
		return nil, status.With(readStatus(err), alteredRun(run, err))
	}
	r.dir = run
	return r, nil
}

// releasedIn reads the release in a folder.
func releasedIn(files *release.Folder) (*released, error) {
	lock, params, err := report.ReadRelease(files)
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	privacy, err := report.ReadPrivacy(files)
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	s, err := parseSpec("spec.lock.yaml", lock, func(name string) ([]byte, error) { return report.ReadPublic(files, name) })
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
		return &released{dir: files.Path(), files: files, model: m, params: params, marginals: &table, privacy: privacy}, nil
	}
	posterior, err := params.Posterior(m)
	if err != nil {
		return nil, status.With(status.Spec, fmt.Errorf("%s: %w", files.Path(), err))
	}
	r := &released{dir: files.Path(), files: files, model: m, params: params, posterior: posterior, privacy: privacy}
	r.drawn.n, r.drawn.seed, err = report.ReadDrawn(files)
	return r, status.With(status.Usage, err)
}

// draws draws from the released posterior: post-processing, which costs nothing.
// What the fit took gives draws.parquet again.
func (r *released) draws(d drawn) outputs.Draws {
	if r.marginals != nil {
		return outputs.Draws{}
	}
	return outputs.DrawPosterior(r.model, r.posterior, d.n, run.PosteriorRandom(d.seed))
}

// judged are draws with what they say of each parameter; of a fit without privacy
// nothing is judged.
func (r *released) judged(d drawn) (outputs.Draws, *outputs.Draws, *outputs.Trace, error) {
	draws, prior := r.draws(d), outputs.DrawPrior(r.model, d.n, run.PriorRandom(d.seed))
	trace, err := outputs.ReadTrace(r.files)
	if err != nil {
		return draws, prior, nil, status.With(status.Usage, err)
	}
	if r.privacy.Mechanism.Clip.Mode != plan.ClippingOff {
		draws.Judge(r.model, prior, trace, report.Known(r.model, r.privacy.Neighbours, r.privacy.Mechanism, r.privacy.Table1))
	}
	return draws, prior, trace, nil
}

// sample is what files of draws are written from.
func (r *released) sample(d drawn) (*outputs.Sample, error) {
	sample := &outputs.Sample{
		Model: r.params.Model, Steps: r.params.Steps,
		Draws: r.draws(d), Prior: outputs.DrawPrior(r.model, d.n, run.PriorRandom(d.seed)), Simulated: outputs.PriorPredictive(r.model, run.SimulationRandom(d.seed)),
	}
	return sample, status.With(status.Usage, r.privacy.Describe(sample))
}
