package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"d3p/internal/fit/plan"
	"d3p/internal/report"
	"d3p/internal/settings"
)

// appliedOf lists every setting of the command with the value that the plan
// uses and the source of it. Names of files are left out: they can say more
// than a release should.
func appliedOf(c *cobra.Command, s *runSettings, plan *plan.Plan, draws int) ([]report.Applied, error) {
	raw, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	planned := map[string]any{} // a plan's fields are named like the settings
	if err := json.Unmarshal(raw, &planned); err != nil {
		return nil, err
	}
	planned["draws"] = draws // of the release, not of a step
	var list []report.Applied
	for _, row := range settings.Table() {
		if c.Flags().Lookup(row.Name) == nil || row.File {
			continue
		}
		value, ok := planned[row.Field()]
		if !ok && s.given(row.Name) {
			value = row.Print(s.values[row.Name])
		}
		list = append(list, report.Applied{Name: row.Name, Value: value, Source: s.sources[row.Name]})
	}
	return list, nil
}
