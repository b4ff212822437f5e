package chart

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"d3p/internal/report"
)

// A shape is a path of an SVG with its corners, y upwards.
type shape struct {
	style string
	x, y  []float64
}

// drawn returns the paths of a chart as SVG whose style has a text, in order.
func drawn(t *testing.T, c *Chart, style string) (list []shape) {
	t.Helper()
	var svg bytes.Buffer
	if err := c.Write(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	corner := regexp.MustCompile(`[ML]([\d.]+),([\d.]+)`)
	for _, m := range regexp.MustCompile(`<path d="([^"]*)" style="([^"]*)"`).FindAllStringSubmatch(svg.String(), -1) {
		if !strings.Contains(m[2], style) {
			continue
		}
		s := shape{style: m[2]}
		for _, at := range corner.FindAllStringSubmatch(m[1], -1) {
			x, _ := strconv.ParseFloat(at[1], 64)
			y, _ := strconv.ParseFloat(at[2], 64)
			s.x, s.y = append(s.x, x), append(s.y, y)
		}
		list = append(list, s)
	}
	return list
}

// proportional checks that numbers on the page are those of the data but for place
// and scale: a larger number is never to the left or below.
func proportional(t *testing.T, what string, page, data []float64) {
	t.Helper()
	if len(page) != len(data) {
		t.Fatalf("%s: %d numbers on the page, want %d", what, len(page), len(data))
	}
	lo, hi := slices.Index(data, slices.Min(data)), slices.Index(data, slices.Max(data))
	scale := (page[hi] - page[lo]) / (data[hi] - data[lo])
	for i := range page {
		if want := page[lo] + scale*(data[i]-data[lo]); !(scale > 0) || math.Abs(page[i]-want) > 0.02 {
			t.Errorf("%s: %v is at %v, want %v", what, data[i], page[i], want)
		}
	}
}

// The intervals, means and the line at 0 lie where the numbers say, the first row on
// top.
func TestIntervalsShowTheNumbers(t *testing.T) {
	rows := append(summaries(), report.Summary{Variable: "b[sex]", Mean: 0.3, Q5: 0.1, Q25: 0.15, Q75: 0.35, Q95: 0.6})
	c, err := Intervals("example", rows)
	if err != nil {
		t.Fatal(err)
	}
	wide, narrow := drawn(t, c, "stroke:#0B5FA5;stroke-width:1.2"), drawn(t, c, "stroke:#0B5FA5;stroke-width:4")
	dots, zero := drawn(t, c, "fill:#0B5FA5"), drawn(t, c, "stroke:#57606A")
	if len(wide) != 3 || len(narrow) != 3 || len(dots) != 3 || len(zero) != 1 {
		t.Fatalf("%d and %d intervals, %d means, %d lines", len(wide), len(narrow), len(dots), len(zero))
	}
	page, data, heights := []float64{zero[0].x[0]}, []float64{0}, []float64{}
	for i := range rows { // drawn from below
		r := rows[len(rows)-1-i]
		const radius = 3 // a circle begins at its right
		page = append(page, wide[i].x[0], wide[i].x[1], narrow[i].x[0], narrow[i].x[1], dots[i].x[0]-radius)
		data = append(data, r.Q5, r.Q95, r.Q25, r.Q75, r.Mean)
		for _, y := range []float64{wide[i].y[1], narrow[i].y[0], narrow[i].y[1], dots[i].y[0]} {
			if y != wide[i].y[0] {
				t.Errorf("row %d is at %v and at %v", i, wide[i].y[0], y)
			}
		}
		heights = append(heights, wide[i].y[0])
	}
	proportional(t, "intervals", page, data)
	proportional(t, "rows", heights, []float64{0, 1, 2})
	var svg bytes.Buffer
	if err := c.Write(&svg, "svg"); err != nil {
		t.Fatal(err)
	}
	if names := regexp.MustCompile(`(?s)>example<.*>50 % and 90 % of the posterior<.*>b\[sex\]<.*>b\[age\]<.*>Intercept<`); !names.MatchString(svg.String()) {
		t.Error("title, axis and rows are not named from below")
	}
}

// A panel per line: the iterates over the steps, in three columns.
func TestTracesShowTheNumbers(t *testing.T) {
	lines := make([]report.Line, 4)
	for i := range lines {
		lines[i] = report.Line{Name: "w", Steps: []float64{1, 2, 5}, Values: []float64{float64(i), 1, -4}}
	}
	c, err := Traces(lines)
	if err != nil {
		t.Fatal(err)
	}
	curves := drawn(t, c, "stroke:#0B5FA5")
	if len(curves) != 4 {
		t.Fatalf("%d curves", len(curves))
	}
	for i, curve := range curves {
		proportional(t, "steps", curve.x, lines[i].Steps)
		proportional(t, "values", curve.y, lines[i].Values)
	}
	if right, below := curves[2].x[0] > curves[1].x[2], curves[3].y[0] < curves[0].y[2]; !right || !below || curves[3].x[0] != curves[0].x[0] {
		t.Error("the panels do not stand in rows of three")
	}
}

// The prior is grey, the posterior blue over a pale area, on one scale that the
// posterior fills.
func TestPriorAndPosteriorShowTheNumbers(t *testing.T) {
	prior := []report.DensityPoint{{X: 0, Y: 0.25}, {X: 1, Y: 0.5}, {X: 2, Y: 0.125}}
	posterior := []report.DensityPoint{{X: 0, Y: 0}, {X: 0.5, Y: 2}, {X: 2, Y: 0.5}}
	c, err := PriorAndPosterior([]report.Overlay{{Name: "b", Prior: prior, Posterior: posterior, From: 0, To: 2}})
	if err != nil {
		t.Fatal(err)
	}
	grey, blue, pale := drawn(t, c, "stroke:#57606A"), drawn(t, c, "stroke:#0B5FA5"), drawn(t, c, "fill-opacity")
	if len(grey) != 1 || len(blue) != 1 || len(pale) != 1 {
		t.Fatalf("%d, %d and %d shapes", len(grey), len(blue), len(pale))
	}
	if !slices.Equal(pale[0].x, blue[0].x) || !slices.Equal(pale[0].y, blue[0].y) {
		t.Error("the area is not that below the posterior")
	}
	proportional(t, "values", slices.Concat(grey[0].x, blue[0].x), []float64{0, 1, 2, 0, 0.5, 2})
	proportional(t, "densities", slices.Concat(grey[0].y, blue[0].y), []float64{0.25, 0.5, 0.125, 0, 2, 0.5})
	if filled := (blue[0].y[1] - blue[0].y[0]) / c.height.Points(); filled < 0.5 {
		t.Errorf("the posterior fills %.2f of the height", filled)
	}
}
