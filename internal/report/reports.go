package report

import (
	"fmt"
	"slices"

	"d3p/internal/models/spec"

	"d3p/internal/release"
)

// reportFormat is a format of the privacy report.
type reportFormat struct {
	name string
	file func(*Privacy, Findings, *spec.Spec) (release.File, error)
}

// reportFormats is the table of formats; a new one is a file and a line here.
func reportFormats() []reportFormat {
	return []reportFormat{
		{"text", func(p *Privacy, _ Findings, _ *spec.Spec) (release.File, error) { return textFile(p), nil }},
		{"html", func(p *Privacy, f Findings, _ *spec.Spec) (release.File, error) { return HTMLFile(p, f), nil }},
		{"md", func(p *Privacy, f Findings, _ *spec.Spec) (release.File, error) { return MarkdownFile(p, f), nil }},
		{"json", func(p *Privacy, _ Findings, _ *spec.Spec) (release.File, error) {
			return release.JSONFile(privacyName, true, p), nil
		}},
		{"methods", func(p *Privacy, f Findings, s *spec.Spec) (release.File, error) { return methodsFile(p, f, s), nil }},
		{"registry", func(p *Privacy, _ Findings, s *spec.Spec) (release.File, error) { return RegistryFile(p, s) }},
	}
}

// ReportNames lists the formats of the privacy report.
func ReportNames() (names []string) {
	for _, f := range reportFormats() {
		names = append(names, f.name)
	}
	return names
}

// ReportFile is the privacy report of a release in the named format.
func ReportFile(name string, p *Privacy, f Findings, s *spec.Spec) (release.File, error) {
	formats := reportFormats()
	i := slices.IndexFunc(formats, func(r reportFormat) bool { return r.name == name })
	if i < 0 {
		return release.File{}, fmt.Errorf("no report format %s", name)
	}
	return formats[i].file(p, f, s)
}
