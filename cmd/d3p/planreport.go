package main

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/report"
	"d3p/internal/run"
)

// plannedPrivacy is the privacy report of a fit that has not run. It reads no
// data.
func plannedPrivacy(c *cobra.Command, s *runSettings, m *models.Model, hash string, plan *plan.Plan) (*report.Privacy, error) {
	command := commandOf(c, s)
	command[0] = "d3p fit"
	planned := report.Run{
		ID: "plan", Created: time.Now(), Status: report.Planned, Tool: tool("none"), Name: modelName(m.Spec),
		Spec: m.Spec, Encoding: m.Encoding, SpecSHA256: hash, Command: command, Accepted: s.AcceptRisk,
		Plan: plan, Posterior: &posterior.Posterior{Plan: plan, Steps: plan.Steps},
	}
	if plan.Private {
		planned.Event, planned.Spent = plan.MechanismEvent(plan.NoiseMultiplier), *plan.Certified
		var err error
		if planned.Booked, err = run.Booked(s.Ledger, "", m.Spec.Data.Unit.Entity.V, plan.Neighbours); err != nil {
			return nil, err
		}
	}
	p, err := planned.Privacy()
	return p, failWith(statusNumeric, err)
}

// writePlan writes the report of a plan in the format of the file's extension.
func (a *app) writePlan(out string, p *report.Privacy, f report.Findings, m *models.Model) error {
	format := strings.TrimPrefix(filepath.Ext(out), ".")
	if format == "txt" {
		format = "text"
	}
	if err := checkWords("--report: extension of "+filepath.Base(out), []string{format}, []string{"html", "md", "text", "json"}); err != nil {
		return err
	}
	file, err := report.ReportFile(format, p, f, m.Spec)
	if err != nil {
		return failWith(statusSpec, err)
	}
	return a.writeFiles([]report.File{file}, false, out)
}
