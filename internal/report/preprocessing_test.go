package report_test

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/report/reporttest"
	"d3p/internal/table1"
)

const imageData = `d3p: 1
data:
  unit: {entity: image, rows_per_unit: 1}
  rows: {public: 500}
  columns:
    label: {type: category, levels: [a, b]}
  tensors:
    img: {from: columns("px0".."px3"), dims: [y, x], shape: [2, 2], lower: 0, upper: 255, scale: {center: 0, by: 255}}
  binarize: {column: img, mode: stochastic}
core:
  rows:
    observe:
      img: bernoulli(0.5)
      label: categorical([0.5, 0.5])
`

// Each column has its transforms in the report, with the declared constants.
func TestPreprocessing(t *testing.T) {
	p, err := reporttest.Example(t, plan.Config{Epsilon: 1}).Privacy()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, step := range p.Preprocessing {
		got = append(got, step.Column+" "+step.Operation)
		if step.UsesPrivateData || step.Epsilon != 0 {
			t.Errorf("%+v uses private data", step)
		}
		if want, ok := map[string]string{"x": "expert", "z": "not stated", "y": "codebook"}[step.Column]; ok && step.Source != want {
			t.Errorf("%s %s has source %q, want %q", step.Column, step.Operation, step.Source, want)
		}
	}
	want := "x clamp,x transform,x scale,x missing,z clamp,z scale,z impute,g encode,g missing,y clamp,y scale,y missing"
	if strings.Join(got, ",") != want {
		t.Errorf("preprocessing %s\nwant          %s", strings.Join(got, ","), want)
	}
	s, errs := spec.Parse("image.yaml", []byte(imageData), nil)
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, step := range report.Steps(&s.Data, nil, nil, nil) {
		got = append(got, step.Column+" "+step.Operation)
	}
	want = "label encode,label missing,img (px0 to px3) clamp,img (px0 to px3) scale,img (px0 to px3) binarize,img (px0 to px3) missing"
	if strings.Join(got, ",") != want {
		t.Errorf("preprocessing of an image %s\nwant                        %s", strings.Join(got, ","), want)
	}
	// A count and an exposure keep the unit of the file; a column that no term
	// names is not read.
	counts := strings.NewReplacer("y: {type: real, lower: -10, upper: 10, scale: {center: 0, by: 3}, source: codebook}", "y: {type: integer, lower: 0, upper: 90}",
		"family: gaussian", "family: poisson", "y ~ 1 + x + z + (1 | g)", "y ~ 1 + z + offset(log(x))").Replace(reporttest.Model)
	if s, errs = spec.Parse("counts.yaml", []byte(counts), nil); errs.Err() != nil {
		t.Fatal(errs.Err())
	}
	m, err := models.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, step := range report.Steps(&s.Data, report.FieldsByHeader(m.Encoding), nil, nil) {
		got = append(got, step.Column+" "+step.Operation)
	}
	want = "x clamp,x missing,z clamp,z scale,z impute,g not read,y clamp,y missing"
	if strings.Join(got, ",") != want {
		t.Errorf("preprocessing of counts %s\nwant                   %s", strings.Join(got, ","), want)
	}
	for _, h := range p.Hazards {
		if h.ID == "undocumented-bounds" {
			return
		}
	}
	t.Error("z does not say where its bounds come from, and no hazard is reported")
}

// Steps whose constants are bought have their price, and use private data.
func TestBoughtSteps(t *testing.T) {
	s, errs := spec.Parse("m.yaml", []byte(reporttest.Model), nil)
	if err := errs.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range report.Steps(&s.Data, nil, []table1.Bounds{{Column: "x", OfBounds: 0.1}, {Column: "z", OfScale: 0.2}}, []table1.Levels{{Column: "g", Price: 0.3}}) {
		if p.UsesPrivateData {
			got = append(got, fmt.Sprintf("%s %s %g", p.Column, p.Operation, p.Epsilon))
		}
	}
	if want := "x clamp 0.1,x scale 0,z scale 0.2,g encode 0.3"; strings.Join(got, ",") != want {
		t.Errorf("%s, want %s", strings.Join(got, ","), want)
	}
}

// The report states the notation by which the table was read, and the missing codes of a column, for any release.
func TestReading(t *testing.T) {
	declared := strings.NewReplacer(
		"  columns:\n", "  decimal: \",\"\n  thousands: \".\"\n  dates: dmy\n  missing_tokens: [unbekannt, \"-9\"]\n  columns:\n",
		"source: codebook}", "source: codebook, missing_tokens: [99], symbol: kg}").Replace(reporttest.Model)
	s, errs := spec.Parse("m.yaml", []byte(declared), nil)
	if errs.Err() != nil {
		t.Fatal(errs.Err())
	}
	run := reporttest.Example(t, plan.Config{Epsilon: 1})
	usual, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	run.Spec = s
	p, err := run.Privacy()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p     *report.Privacy
		wants []string
	}{
		{usual, []string{`decimal sign "."; dates as year-month-day.`, "is one of NA, N/A, NaN, null, NULL, ., or"}},
		{p, []string{`decimal sign ",", with "." between groups of three digits; dates as year-month-day, or the day first.`, "is one of unbekannt, -9, or", "symbol kg", "rule reject; tokens 99"}},
	} {
		for name, file := range map[string]release.File{"privacy.md": report.MarkdownFile(c.p, report.Findings{}), "privacy.html": report.HTMLFile(c.p, report.Findings{})} {
			var text strings.Builder
			if err := file.Write(&text); err != nil {
				t.Fatal(err)
			}
			plain := strings.ReplaceAll(html.UnescapeString(text.String()), "\\", "")
			for _, want := range c.wants {
				if !strings.Contains(plain, want) {
					t.Errorf("%s lacks %q", name, want)
				}
			}
		}
	}
	raw, err := json.Marshal(p.Reading)
	if want := `{"missing_tokens":["unbekannt","-9"],"decimal":",","thousands":".","dates":"dmy"}`; err != nil || string(raw) != want {
		t.Errorf("%s (%v), want %s", raw, err, want)
	}
}
