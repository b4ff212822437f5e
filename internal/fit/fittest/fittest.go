// Package fittest opens fits for tests.
package fittest

import (
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/privacy"
)

// Plan is the plan of a fit of m.
func Plan(tb testing.TB, m *models.Model, cfg plan.Config) *plan.Plan {
	tb.Helper()
	plan, err := plan.New(m, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// Curator opens cfg with the budget and the relation of a plan.
func Curator(tb testing.TB, plan *plan.Plan, cfg privacy.CuratorConfig) *privacy.Curator {
	tb.Helper()
	cfg.Budget, cfg.Relation = plan.Budget(), plan.Relation()
	curator, err := privacy.NewCurator(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return curator
}
