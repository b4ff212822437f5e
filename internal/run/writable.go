package run

import (
	"fmt"

	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/posterior"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/status"
)

const (
	triedDraws = 2
	mostTried  = 1 << 20 // parameters of a posterior that is tried
)

// check refuses a fit that cannot have a result, or whose release cannot be written.
func (r Run) check() error {
	m, err := r.Job.compile(r.Plan.Settled())
	if err != nil {
		return err
	}
	if err := r.checkFinite(); err != nil {
		return err
	}
	return r.checkWritable(m)
}

// checkWritable refuses a new fit whose release cannot be encoded, or whose files cannot be
// made in the folder. It tries a release of standard normal parameters.
func (r Run) checkWritable(m *models.Model) error {
	if r.checkpoint != nil {
		return nil
	}
	p := &posterior.Posterior{Plan: r.Plan, Steps: r.Plan.Steps, Guide: guide.NewMeanField(m.P), Lambda: make([]float64, 2*m.P)}
	p.Mean, p.LogSD, p.VarDP = make([]float64, m.P), make([]float64, m.P), make([]float64, m.P)
	run := r.described(m, p)
	run.Status = report.Planned
	if !r.Plan.Open() && !r.Plan.ByMarginals() && m.P <= mostTried {
		r.addPosterior(&run, m, triedDraws)
	}
	if r.Plan.Private {
		run.Event, run.Spent = r.price(), *r.Plan.Certified
	}
	files, err := run.Release()
	if err == nil {
		err = release.Try(r.folder.root, files)
	}
	if err != nil {
		return status.With(status.Numeric, fmt.Errorf("the release could not be written: %w (nothing was spent)", err))
	}
	return nil
}
