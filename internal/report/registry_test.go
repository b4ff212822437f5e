package report_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"d3p/internal/fit/plan"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/settings"
)

// The registry refuses fields that its schema does not have; these are the ones
// of schemas/deployments-schema.yaml of July 2026.
func TestRegistryHasTheFieldsOfTheSchema(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	var entry struct {
		Slug       string `yaml:"url_slug"`
		Status     string `yaml:"status"`
		Tier       int    `yaml:"tier"`
		Deployment map[string]map[string]any
	}
	if err := yaml.UnmarshalWithOptions(reporttest.Contents(t, run)["registry.yaml"], &entry, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if entry.Status != "Draft" || entry.Tier != 3 || entry.Slug != "example-0123456789abcdef" {
		t.Errorf("%s, tier %d, %s", entry.Status, entry.Tier, entry.Slug)
	}
	want := map[string]string{
		"basic":            "data_curators data_product_region data_product_sector data_product_type description intended_use name publication_date",
		"dp_variant":       "data_domain unprotected_quantities variant_name",
		"privacy_loss":     "privacy_parameters privacy_parameters_details privacy_unit privacy_unit_details",
		"deployment_model": "access_type actors data_source_type model_name release_type",
		"accounting":       "composition post_processing",
		"implementation":   "justification mechanisms preprocessing_and_hyperparameter_tuning",
		"administrative":   "notes registry_authors",
	}
	if got := slices.Sorted(maps.Keys(entry.Deployment)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("sections %v", got)
	}
	for section, fields := range want {
		if got := strings.Join(slices.Sorted(maps.Keys(entry.Deployment[section])), " "); got != fields {
			t.Errorf("%s has %s, want %s", section, got, fields)
		}
	}
	if date := entry.Deployment["basic"]["publication_date"]; date != "2026-11-21" {
		t.Errorf("date %v is not text YYYY-MM-DD", date)
	}
	parameters := entry.Deployment["privacy_loss"]["privacy_parameters"].(map[string]any)
	if parameters["epsilon"] != run.Spent.Upper || parameters["delta"] != run.Plan.Delta {
		t.Errorf("parameters %v, want %v and %v", parameters, run.Spent.Upper, run.Plan.Delta)
	}
}

func TestRegistryWantsAnAuthorAndPrivacy(t *testing.T) {
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	authors := run.Spec.Release.Authors
	run.Spec.Release.Authors = nil
	if _, err := report.RegistryFile(p, run.Spec); err == nil || !strings.Contains(err.Error(), "authors") {
		t.Errorf("no author: %v", err)
	}
	run.Spec.Release.Authors, p.Guarantee = authors, nil
	if _, err := report.RegistryFile(p, run.Spec); err == nil || !strings.Contains(err.Error(), settings.NotPrivate) {
		t.Errorf("not private: %v", err)
	}
}
