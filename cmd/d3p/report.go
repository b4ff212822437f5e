package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/released"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/models/spec"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/status"
)

func newReport(a *app) *cobra.Command {
	var formats []string
	var out string
	var words registryWords
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Write the privacy report of a release again, in any format",
		Long: `Report writes the privacy report from the release alone: one format to stdout,
several to the new folder --out.

  html      one page with its figures, for people
  md        the same as Markdown
  text      the claim and what it means, in a few lines
  json      privacy.json: every number, for programs
  methods   the text for a paper's methods section, with references
  registry  a draft entry of the differential privacy deployments registry

The words of the registry entry may be given here instead of under release: in the model
file.`,
		Example: "  d3p report d3p-run-cohort-1 --format text\n  d3p report d3p-run-cohort-1 --format html,md --out report\n  d3p report d3p-run-cohort-1 --format registry --author \"A. Person\"",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("format") {
				formats = []string{outfile.Format(out, map[bool]string{false: "text", true: "json"}[a.json], report.ReportNames())}
			}
			if err := flags.CheckWords("--format", formats, report.ReportNames()); err != nil {
				return err
			}
			if len(formats) > 1 && out == "" {
				return status.Usagef("--format: %d formats need a folder, name one with --out", len(formats))
			}
			r, findings, err := a.readFindings(c.Context(), args[0])
			if err != nil {
				return err
			}
			described := words.added(r.Model.Spec)
			var files []release.File
			for _, f := range formats {
				file, err := report.ReportFile(f, r.Privacy, findings, described)
				if err != nil {
					return status.With(status.Spec, err)
				}
				files = append(files, file)
			}
			return a.writeFiles(files, len(files) > 1, out)
		},
	}
	c.Flags().StringSliceVar(&formats, "format", []string{"text"}, "formats, separated by commas: "+strings.Join(report.ReportNames(), ", ")+"; left out, as --out ends")
	flags.CompleteWords(c, "format", report.ReportNames())
	c.Flags().StringVar(&out, "out", "", "`FILE` to write (default stdout); for several formats a new folder")
	c.Flags().StringSliceVar(&words.authors, "author", nil, "`NAME` of an author, for the registry; several separated by commas")
	c.Flags().StringSliceVar(&words.curators, "curator", nil, "`NAME` of who holds the data, for the registry")
	c.Flags().StringVar(&words.use, "intended-use", "", "`TEXT` for the registry")
	c.Flags().StringVar(&words.region, "region", "", "`TEXT` for the registry")
	a.unverifiedFlag(c)
	return c
}

// registryWords are the flags that describe a release for the registry.
type registryWords struct {
	authors, curators []string
	use, region       string
}

// added is the model file with the given words in place of its own words.
func (given registryWords) added(file *spec.Spec) *spec.Spec {
	described := *file
	release := &described.Release
	if len(given.authors) > 0 {
		release.Authors = statedAll(given.authors)
	}
	if len(given.curators) > 0 {
		release.Curators = statedAll(given.curators)
	}
	if given.use != "" {
		release.IntendedUse = stated(given.use)
	}
	if given.region != "" {
		release.Region = stated(given.region)
	}
	return &described
}

func statedAll(words []string) (list []source.Value[string]) {
	for _, w := range words {
		list = append(list, stated(w))
	}
	return list
}

// stated is a text in the form of one from the model file.
func stated(text string) source.Value[string] {
	return source.Value[string]{V: text, At: expr.Position{Line: 1}}
}

// readFindings reads a release and the description of its model: the sources of the fit's
// own report.
func (a *app) readFindings(ctx context.Context, run string) (*released.Release, report.Findings, error) {
	r, err := a.releases.ReadAny(ctx, run)
	if err != nil {
		return nil, report.Findings{}, err
	}
	findings, err := r.Findings()
	return r, findings, err
}
