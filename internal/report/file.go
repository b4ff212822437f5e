// Package report writes the files of a fit: those of release/, which the privacy claim
// covers, and those of private/, which it does not cover.
package report

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"d3p/internal/outputs"
	"d3p/internal/release"
)

// IsDeclaration reports whether a file of a release is a declaration, which the claim
// assumes and does not cover.
func IsDeclaration(name string) bool {
	return name == LockName || strings.HasPrefix(name, publicFolder+"/")
}

// The files of a release that are named elsewhere, too.
const (
	privacyName = "privacy.json"
	paramsName  = "params.json"
	EventName   = "dp_event.json"
	// MarginalsName has the noisy tables of counts that a synthetic table is drawn from.
	MarginalsName = "marginals.json"
	// UtilityName is the file that describes the quality of such a table.
	UtilityName = "utility.md"
)

// always are the files that every release has.
var always = []string{privacyName, "privacy.md", "privacy.html", paramsName, outputs.SummaryName, LockName}

// CheckNames is an error unless the manifest names the files of a release and no others, and
// states for each whether the claim covers it.
func CheckNames(m release.Manifest) error {
	wrong := func(why, name string) error {
		return &release.Altered{Name: release.ManifestName, Why: fmt.Sprintf("altered: %s %q", why, name)}
	}
	for _, e := range m.Files {
		if !isKnown(e.Path) {
			return wrong("no release of d3p has a file", e.Path)
		}
		if e.Covered == IsDeclaration(e.Path) {
			return wrong("it states wrongly whether the claim covers", e.Path)
		}
	}
	wanted := always
	if m.Privacy == "" {
		wanted = append(slices.Clone(always), EventName)
	}
	for _, name := range wanted {
		if !slices.ContainsFunc(m.Files, func(e release.Entry) bool { return e.Path == name }) {
			return wrong("every release has a file", name)
		}
	}
	return nil
}

// isKnown reports whether a release of d3p may have a file of this name.
func isKnown(name string) bool {
	return slices.Contains(always, name) || slices.Contains([]string{EventName, readmeName, table1CSV, table1MD, outputs.SideQueriesName, "registry.yaml", MarginalsName, UtilityName, outputs.TraceName, outputs.WeightsName}, name) ||
		strings.HasPrefix(name, publicFolder+"/") || outputs.IsDrawsFile(name)
}

// NotProtected is in every file of private/.
const NotProtected = "NOT_PROTECTED"

// readmeName is the list of a release's files, for people.
const readmeName = "README"

// contents are the files of a release in the order of the list, each with its purpose. A
// name that ends in a slash is a folder.
var contents = []struct{ name, text string }{
	{"privacy.html", "the privacy report; privacy.md is the same text, privacy.json its numbers for programs"},
	{outputs.SummaryName, "mean, sd and quantiles of every parameter"},
	{"draws.parquet", "draws from the posterior, for pandas, polars, DuckDB and R arrow"},
	{"idata.zarr/", "posterior, prior and prior predictive draws, for ArviZ and xarray"},
	{table1MD, "how many units have a usable row, and how each column is spread; table1.csv has every number"},
	{outputs.WeightsName, "weights of the networks"},
	{outputs.TraceName, "iterates of the fit"},
	{outputs.SideQueriesName, "loss, accuracy or levels at some iterates, over all records, with noise"},
	{UtilityName, "the quality of the synthetic table: expected distances, rules, pictures, and unsuitable uses"},
	{MarginalsName, "noisy tables of counts, from which d3p twin draws synthetic tables"},
	{paramsName, "the released parameters, from which every other number follows"},
	{LockName, "the model file with every default, and every setting with its source"},
	{EventName, "the releases of the mechanism, in the form of Google's dp_accounting"},
	{publicFolder + "/", "public tables and level lists of the model"},
}

// ReadmeFile lists the files of a release.
func ReadmeFile(p *Privacy, names []string) release.File {
	return release.File{Name: readmeName, Covered: true, Write: func(w io.Writer) error {
		var b strings.Builder
		if p.Banner != "" {
			fmt.Fprintf(&b, "%s\n", p.Banner)
		}
		fmt.Fprintf(&b, "The release of a fit by d3p: %s. %s.\n\n", p.Subject.Name, p.Statements.OneLine)
		draws := false
		for _, name := range names {
			draws = draws || outputs.IsDrawsFile(name)
		}
		for _, c := range contents {
			if hasFile(names, c.name) {
				fmt.Fprintf(&b, "%-20s %s\n", c.name, c.text)
			}
		}
		if !draws && !hasFile(names, outputs.WeightsName) && !hasFile(names, MarginalsName) {
			b.WriteString("\nDraws cost no privacy: d3p draws RUN --format parquet writes them.\n")
		}
		b.WriteString("\nd3p verify checks the files and recomputes the claim from dp_event.json.\n")
		_, err := io.WriteString(w, b.String())
		return err
	}}
}

// hasFile reports whether name, a file or a folder, is among the names of files.
func hasFile(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == name || strings.HasSuffix(name, "/") && strings.HasPrefix(n, name) })
}

// publicFolder of a release holds the public files that its model names.
const publicFolder = "public"

// PublicFiles are the public tables and level lists that a model file names, by their paths
// in it. A release has copies, so that it can be used anywhere.
func PublicFiles(public map[string][]byte) []release.File {
	var files []release.File
	for _, path := range slices.Sorted(maps.Keys(public)) {
		files = append(files, release.File{Name: publicFolder + "/" + url.PathEscape(path), Covered: false, Write: func(w io.Writer) error {
			_, err := w.Write(public[path])
			return err
		}})
	}
	return files
}

// ReadPublic reads a file of PublicFiles from a release.
func ReadPublic(f *release.Folder, path string) ([]byte, error) {
	return f.ReadFile(publicFolder + "/" + url.PathEscape(path))
}

// UtilityFile is the page about a synthetic table.
func UtilityFile(text string) release.File {
	return release.File{Name: UtilityName, Covered: true, Write: func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}}
}
