package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"d3p/internal/report"
)

func summaries() []report.Summary {
	return []report.Summary{
		{Variable: "Intercept", Mean: -1, Q5: -2, Q25: -1.4, Q75: -0.6, Q95: 0},
		{Variable: "b[age]", Mean: 1, Q5: 0.5, Q25: 0.8, Q75: 1.2, Q95: 1.5},
	}
}

// charts are one of each kind.
func charts(t *testing.T) map[string]*Chart {
	t.Helper()
	intervals, err := Intervals("example", summaries())
	if err != nil {
		t.Fatal(err)
	}
	traces, err := Traces([]report.Line{{Name: "b[age]", Steps: []float64{1, 2, 3}, Values: []float64{0, 1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	bump := []report.DensityPoint{{X: 0, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: 0}}
	overlay, err := PriorAndPosterior([]report.Overlay{{Name: "b[age]", Prior: bump, Posterior: bump, From: 0, To: 2}})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Chart{"intervals": intervals, "trace": traces, "prior": overlay}
}

// An SVG is well formed and names its parameters; a PNG is not all white.
func TestCharts(t *testing.T) {
	for name, c := range charts(t) {
		var svg, raster bytes.Buffer
		if err := c.Write(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(svg.String(), "b[age]") {
			t.Errorf("%s does not name b[age]", name)
		}
		decoder := xml.NewDecoder(&svg)
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if err := c.Write(&raster, "png"); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(&raster)
		if err != nil {
			t.Fatal(err)
		}
		dark := 0
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				if r, _, _, _ := picture.At(x, y).RGBA(); r < 0x8000 {
					dark++
				}
			}
		}
		if dark < 200 {
			t.Errorf("%s has %d dark pixels", name, dark)
		}
		if err := c.Write(io.Discard, "gif"); err == nil {
			t.Errorf("%s was written as gif", name)
		}
	}
}

func TestStamp(t *testing.T) {
	for name, c := range charts(t) {
		c.Stamp = report.NotPrivate
		var svg bytes.Buffer
		if err := c.Write(&svg, "svg"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(svg.String(), report.NotPrivate) {
			t.Errorf("%s is not stamped", name)
		}
	}
}

func TestIntervalsRefuseWhatIsNotFinite(t *testing.T) {
	rows := summaries()
	rows[1].Q95 = math.Inf(1)
	if _, err := Intervals("example", rows); err == nil || !strings.Contains(err.Error(), "b[age]") {
		t.Errorf("error %v", err)
	}
}
