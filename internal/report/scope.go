package report

import (
	"fmt"
	"strings"

	"d3p/internal/fit/plan"
	"d3p/internal/outputs"
)

// scope states the coverage of the guarantee (nothing, if the run is not private) and the
// accesses to the records.
func (r *Run) scope() Scope {
	s := Scope{
		Covers:       []string{},
		DataAccesses: []string{"one exact sum of gradients per step"},
		Tuning:       Tuning{false, "choosing settings by looking at the results of other runs on the same data is not counted here"},
	}
	if r.Banner() == "" {
		s.Covers = []string{"every iterate of the fit", "the parameters and draws of the posterior", "every other file of the release", "predictions and tables made from them"}
	}
	if r.Plan.Private {
		s.DataAccesses[0] = "one noisy sum of clipped gradients per step"
	}
	if one := releasesOnce(r.Plan.Clipping); one != nil {
		s.DataAccesses[0] = one.access
	}
	if r.Plan.Selection != nil {
		s.DataAccesses = append(s.DataAccesses, "the same of every other fit of the selection, and noisy counts for the score of each")
		s.Tuning = Tuning{true, "the model and its settings were selected by a noisy score, as a part of the price; a choice by other results is not counted"}
	}
	if bought := r.Plan.Before(); len(bought) > 0 && r.Plan.Purchase == nil {
		s.DataAccesses = append(s.DataAccesses, "noisy counts before the first step")
	}
	if r.Plan.Purchase != nil {
		s.DataAccesses = append(s.DataAccesses, "noisy counts of the columns' values before the first step")
		if r.Banner() == "" {
			s.Covers = append(s.Covers, "Table 1")
		}
	}
	if r.Plan.Purchase.Second() != nil {
		s.DataAccesses = append(s.DataAccesses, "noisy second moments of the design and the response before the first step")
	}
	if q := r.Plan.SideQueries; q != nil {
		s.DataAccesses = append(s.DataAccesses, fmt.Sprintf("noisy sums over all records of %s at %d iterates, after the last step", strings.Join(q.Quantities, ", "), len(q.Steps)))
		if r.Banner() == "" {
			s.Covers = append(s.Covers, "measurements of iterates ("+outputs.SideQueriesName+")")
		}
	}
	if r.Plan.Surprisals != nil {
		s.DataAccesses = append(s.DataAccesses, "noisy counts of the records by their likelihood at the end of the fit and by how far out their predictors are, after the last step")
	}
	if r.Plan.DesignEffects != nil {
		s.DataAccesses = append(s.DataAccesses, fmt.Sprintf("noisy counts of %s by number of rows and noisy sums of the squares of their gradients, after the last step", r.entity()+"s"))
	}
	if r.Plan.Clipping == plan.ClippingCounts {
		s.DataAccesses[0] = "one release of noisy tables of counts per step"
		if r.Banner() == "" {
			s.Covers = []string{"every noisy table of counts", "every other file of the release", "synthetic tables made from them"}
		}
	}
	if r.Plan.CountNoise > 0 {
		s.DataAccesses = append(s.DataAccesses, "one noisy count of unclipped gradients per step, in the same release")
	}
	return s
}

// actors states who sees which files.
func (r *Run) actors() []string {
	custodian := "custodian: holds the records, runs d3p and sees private/"
	if r.Banner() != "" {
		return []string{custodian, "anyone else: must see none of the files"}
	}
	return []string{custodian, "anyone: may see every file of the release"}
}
