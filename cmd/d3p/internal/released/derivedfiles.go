package released

import (
	"slices"

	"d3p/internal/outputs"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/settings"
	"d3p/internal/verify"
)

// Rewritten ends the name of a check that writes a file again.
const Rewritten = " follows from the release"

// Verify writes the derived files of a release again and compares them.
func Verify(files *release.Folder, program string) (checks []verify.Check) {
	const name = "the release follows from its parameters"
	r, err := In(files)
	var again []release.File
	var draws outputs.Draws
	if err == nil {
		again, err = r.Again()
	}
	if err == nil {
		draws, _, _, err = r.Judged(r.Drawn)
	}
	if err != nil {
		return []verify.Check{{Name: name, Detail: err.Error()}}
	}
	sameBuild := r.Privacy.Tool.SHA256 == program
	checks = append(checks, verify.Model(files, r.Privacy, &r.Params, r.Model, draws, sameBuild))
	manifest, _ := files.Manifest()
	for _, e := range manifest.Files {
		i := slices.IndexFunc(again, func(f release.File) bool { return f.Name == e.Path })
		if i < 0 {
			continue
		}
		written, err := files.ReadFile(e.Path)
		if err != nil {
			continue // a check of the files has reported it
		}
		c := verify.Check{Name: e.Path + Rewritten}
		c.OK, c.Detail = verify.Rewritten(again[i], written, sameBuild)
		checks = append(checks, c)
	}
	return checks
}

// Again holds the files of a release as this program writes them from the release's
// parameters, model and report.
func (r *Release) Again() ([]release.File, error) {
	if r.Marginals != nil {
		return r.againMarginals()
	}
	findings, err := r.Findings()
	if err != nil {
		return nil, err
	}
	sample, err := r.Sample(r.Drawn)
	if err != nil {
		return nil, err
	}
	files := append(sample.Files(settings.FormatNames()), outputs.SummaryFile(findings.Rows, r.Privacy.Banner))
	files = append(files, report.Table1Files(r.Privacy)...)
	files = append(files, outputs.SideQueriesFiles(r.Privacy.Mechanism.SideQueries, r.Privacy.Banner)...)
	reports, err := r.reportsAgain(findings)
	return append(files, reports...), err
}

// reportsAgain are the forms of the report that the release has, and its README.
func (r *Release) reportsAgain(findings report.Findings) (files []release.File, err error) {
	for _, format := range []string{"md", "html", "registry"} {
		if format == "registry" && !r.Files.Has("registry.yaml") {
			continue
		}
		file, err := report.ReportFile(format, r.Privacy, findings, r.Model.Spec)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	manifest, _ := r.Files.Manifest()
	var names []string
	for _, e := range manifest.Files {
		names = append(names, e.Path)
	}
	return append(files, report.ReadmeFile(r.Privacy, names)), nil
}

// againMarginals is again for a release without a posterior.
func (r *Release) againMarginals() ([]release.File, error) {
	var none outputs.Draws
	findings := report.Findings{Rows: none.Summarise(), Overlays: report.Overlays(none, nil, nil, report.Panels)}
	reports, err := r.reportsAgain(findings)
	return append([]release.File{outputs.SummaryFile(findings.Rows, r.Privacy.Banner), report.UtilityFile(r.Marginals.Utility(r.Model))}, reports...), err
}
