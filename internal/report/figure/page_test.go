package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

// every is one figure of each kind, with names that XML must quote.
func every() []Figure {
	bump := []Point{{0.1, 0}, {0.5, 1}, {0.9, 0}}
	return []Figure{
		Forest([]Interval{{Name: "b[x<1]", Mean: 1, Q5: -1, Q25: 0.5, Q75: 1.5, Q95: 2, NoiseShare: 0.5, NoiseShareModelled: true}}, 400),
		Trace("a & b", []Point{{1, 0}, {2, 1}, {3, -1}}),
		Overlay("sd", bump, bump, 0, 1),
		Tradeoff(bump, bump, bump, bump, bump),
		EpsilonOfDelta(bump, Point{0.1, 1}, 100),
		Spending(bump, 2),
		Budget([]Part{{"this", 1}, {"other", 2}}, 4, "limit"),
		Pipeline([][2]string{{"records", "bounds"}, {"sum", "noise"}, {"release", ""}}, 2),
	}
}

// parsed checks that a text is XML.
func parsed(t *testing.T, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// written is a page as a file.
func written(t *testing.T, p Page, format string) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The figures in a page have classes that the style sheet knows; a file needs no
// style sheet, and holds what its figures hold.
func TestFigures(t *testing.T) {
	file := written(t, Page{Figures: every(), Stamp: "NOT PRIVATE"}, "svg")
	parsed(t, file)
	if strings.Contains(file, "class=") || strings.Contains(file, "var(") || !strings.Contains(file, ">NOT PRIVATE<") {
		t.Error("the file needs a style sheet, or is not stamped")
	}
	sheet := string(StyleSheet())
	text := regexp.MustCompile(`>[^<>]+</text>`)
	for _, f := range every() {
		page := string(f.HTML())
		parsed(t, page)
		for _, class := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(sheet, "svg ."+class[1]+" {") {
				t.Errorf("%s: the style sheet has no class %s", f.title, class[1])
			}
		}
		for _, words := range text.FindAllString(page, -1) {
			if !strings.Contains(file, words) {
				t.Errorf("%s: the file lacks %s", f.title, words)
			}
		}
	}
	if err := (Page{Figures: every()}).Write(io.Discard, "gif"); err == nil {
		t.Error("gif was written")
	}
	wrong := Forest([]Interval{{Name: "b", Mean: math.NaN()}}, 400)
	if err := (Page{Figures: []Figure{wrong}}).Write(io.Discard, "svg"); err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Errorf("a mean that is not a number was drawn: %v", err)
	}
}

// Four figures stand in two rows, none over another.
func TestPageRows(t *testing.T) {
	var list []Figure
	for range 4 {
		list = append(list, Figure{title: "f", width: 100, height: 50, shapes: []shape{{kind: dot, class: "mean", points: []Point{{50, 25}}, radius: 1}}})
	}
	page, err := Page{Figures: list}.drawing()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Point{{60, 35}, {174, 35}, {288, 35}, {60, 99}} {
		if got := page.shapes[1+i].points[0]; got != want {
			t.Errorf("figure %d is at %v, want %v", i, got, want)
		}
	}
	if page.width != 348 || page.height != 134 {
		t.Errorf("the page is %g x %g", page.width, page.height)
	}
}

// A picture has the colours of the shapes where these are, and paper elsewhere.
func TestPicture(t *testing.T) {
	c := newCanvas(100, 100, "test", axis{hi: 1}, axis{hi: 1})
	c.box("noise", 10, 10, 20, 10)
	c.segment("run", 10, 40, 50, 40) // 2.2 wide
	c.segment("claim", 10, 60, 50, 60)
	c.segment("axis", 60, 10, 60, 50)
	c.shapes = append(c.shapes, shape{kind: open, class: "thin", points: []Point{{70, 10}, {90, 10}, {90, 30}}})
	c.dot("mark", 80, 80, 5)
	c.text("label", "end", 50, 90, "lll")
	picture, err := png.Decode(strings.NewReader(written(t, Page{Figures: []Figure{c.Figure}}, "png")))
	if err != nil {
		t.Fatal(err)
	}
	at := func(x, y float64) color.Color {
		return color.NRGBAModel.Convert(picture.At(int(scale*(x+pageMargin)), int(scale*(y+pageMargin))))
	}
	for _, c := range []struct {
		what   string
		x, y   float64
		colour string
	}{
		{"box", 11, 11, "claim"}, {"box", 29, 19, "claim"}, {"right of the box", 30.5, 15, "#ffffff"}, {"below the box", 20, 20.5, "#ffffff"},
		{"line", 11, 39.5, "run"}, {"line", 49, 40.5, "run"}, {"above the line", 20, 38, "#ffffff"}, {"after the line", 51, 40, "#ffffff"},
		{"dash", 12, 60, "claim"}, {"gap", 18.5, 60, "#ffffff"}, {"next dash", 24, 60, "claim"}, {"next gap", 28.5, 60, "#ffffff"},
		{"bend", 90.2, 10, "run"}, {"after the bend", 90, 29, "run"}, {"beside the bend", 88, 12, "#ffffff"},
		{"dot", 80, 83, "run"}, {"edge of the dot", 80, 74.9, "#ffffff"}, {"beside the dot", 75.5, 75.5, "#ffffff"},
	} {
		if got := at(c.x, c.y); got != pixel(c.colour, 0) {
			t.Errorf("%s: (%g, %g) is %v, want %s", c.what, c.x, c.y, got, c.colour)
		}
	}
	box := inked(picture, image.Rect(2*40, 2*85, 2*65, 2*105))
	if box.Empty() || box.Max.X > 2*60+1 || box.Max.X < 2*58 || box.Max.Y != 2*100 {
		t.Errorf("the words that end at (60, 100) fill %v", box)
	}
}

// inked is the smallest rectangle around what is not white.
func inked(picture image.Image, within image.Rectangle) (box image.Rectangle) {
	for y := within.Min.Y; y < within.Max.Y; y++ {
		for x := within.Min.X; x < within.Max.X; x++ {
			if r, _, _, _ := picture.At(x, y).RGBA(); r < 0x8000 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// Words upward are as high as they are wide otherwise.
func TestUpward(t *testing.T) {
	size := func(upward bool) image.Point {
		f := Figure{width: 100, height: 100, shapes: []shape{{kind: words, class: "name", anchor: "middle", words: "epsilon", upward: upward, points: []Point{{50, 50}}}}}
		picture, err := png.Decode(strings.NewReader(written(t, Page{Figures: []Figure{f}}, "png")))
		if err != nil {
			t.Fatal(err)
		}
		return inked(picture, picture.Bounds()).Size()
	}
	across, upward := size(false), size(true)
	if math.Abs(float64(across.X-upward.Y)) > 2 || math.Abs(float64(across.Y-upward.X)) > 2 || across.X < 2*across.Y {
		t.Errorf("across %v, upward %v", across, upward)
	}
}
