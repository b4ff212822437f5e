package figure

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"slices"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// scale is the number of picture pixels per pixel of the view box.
const scale = 2

// png writes the figure as a picture.
func (f Figure) png(w io.Writer) error {
	typeface, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		return fmt.Errorf("the font: %w", err)
	}
	bounds := image.Rect(0, 0, int(math.Ceil(scale*f.width)), int(math.Ceil(scale*f.height)))
	p := painter{picture: image.NewRGBA(bounds), typeface: typeface}
	for _, s := range f.shapes {
		if err := p.paint(s); err != nil {
			return err
		}
	}
	return png.Encode(w, p.picture)
}

// painter fills outlines with a colour.
type painter struct {
	picture  *image.RGBA
	outline  outline
	raster   vector.Rasterizer
	typeface *sfnt.Font
	glyphs   sfnt.Buffer
}

func (p *painter) paint(s shape) error {
	look := styleOf(s.class)
	switch s.kind {
	case words:
		return p.write(s, look)
	case dot:
		s.points = circle(s.points[0], s.radius)
		s.kind = closed
	}
	if look.fill != "" {
		p.loop(s.points)
		p.fill(look.fill, look.fillOpacity)
	}
	if look.stroke == "" {
		return nil
	}
	if s.kind == closed && len(s.points) > 0 {
		s.points = append(s.points[:len(s.points):len(s.points)], s.points[0])
	}
	for _, line := range dashes(s.points, look.dash) {
		p.stroke(line, look.width, look.round)
	}
	p.fill(look.stroke, look.opacity)
	return nil
}

// fill fills the outline and forgets it. It rasterises the pixels about the outline alone: a
// label is a thousandth of a picture.
func (p *painter) fill(colour string, opacity float64) {
	box := p.outline.box().Intersect(p.picture.Bounds())
	p.raster.Reset(box.Dx(), box.Dy())
	p.outline.draw(&p.raster, box.Min)
	p.outline = p.outline[:0]
	p.raster.Draw(p.picture, box, image.NewUniform(pixel(colour, opacity)), image.Point{})
}

// outline are closed curves, in pixels of the picture.
type outline []piece

// piece is a part of a curve. It ends at the last of its points; a move closes the curve before it.
type piece struct {
	op     sfnt.SegmentOp
	points [3][2]float32
}

// ends is the number of points of a piece.
var ends = [...]int{sfnt.SegmentOpMoveTo: 1, sfnt.SegmentOpLineTo: 1, sfnt.SegmentOpQuadTo: 2, sfnt.SegmentOpCubeTo: 3}

// box holds all pixels that the outline touches.
func (o outline) box() (box image.Rectangle) {
	for _, p := range o {
		for _, at := range p.points[:ends[p.op]] {
			x, y := int(math.Floor(float64(at[0]))), int(math.Floor(float64(at[1])))
			box = box.Union(image.Rect(x, y, x+1, y+1))
		}
	}
	return box
}

// draw draws the outline where origin is the first pixel.
func (o outline) draw(to *vector.Rasterizer, origin image.Point) {
	for _, p := range o {
		a, b, c := &p.points[0], &p.points[1], &p.points[2]
		for _, at := range []*[2]float32{a, b, c} {
			at[0], at[1] = at[0]-float32(origin.X), at[1]-float32(origin.Y)
		}
		switch p.op {
		case sfnt.SegmentOpMoveTo:
			to.ClosePath()
			to.MoveTo(a[0], a[1])
		case sfnt.SegmentOpLineTo:
			to.LineTo(a[0], a[1])
		case sfnt.SegmentOpQuadTo:
			to.QuadTo(a[0], a[1], b[0], b[1])
		case sfnt.SegmentOpCubeTo:
			to.CubeTo(a[0], a[1], b[0], b[1], c[0], c[1])
		}
	}
	to.ClosePath()
}

// loop adds a closed line to the outline.
func (p *painter) loop(points []Point) {
	for i, at := range points {
		op := sfnt.SegmentOpLineTo
		if i == 0 {
			op = sfnt.SegmentOpMoveTo
		}
		p.outline = append(p.outline, piece{op, [3][2]float32{{float32(scale * at.X), float32(scale * at.Y)}}})
	}
}

// stroke adds a line of a width: its left edge there, its right edge back. Corners
// are mitred, sharp ones cut.
func (p *painter) stroke(line []Point, width float64, round bool) {
	line = slices.Compact(slices.Clone(line))
	if round && len(line) > 0 {
		p.loop(circle(line[0], width/2))
		p.loop(circle(line[len(line)-1], width/2))
	}
	if len(line) < 2 {
		return
	}
	edge := side(line, width/2)
	slices.Reverse(line)
	p.loop(append(edge, side(line, width/2)...))
}

// side is the edge of a line on its left, seen along it, at a distance.
func side(line []Point, distance float64) (edge []Point) {
	normal := func(a, b Point) Point {
		length := math.Hypot(b.X-a.X, b.Y-a.Y)
		return Point{(b.Y - a.Y) / length, -(b.X - a.X) / length}
	}
	for i, at := range line {
		before, after := normal(line[max(i, 1)-1], line[max(i, 1)]), normal(line[min(i, len(line)-2)], line[min(i, len(line)-2)+1])
		// before + after has the direction of the mitre, and its length is twice
		// the cosine of half the turn
		cosine := 1 + before.X*after.X + before.Y*after.Y
		if cosine > 0.5 {
			edge = append(edge, Point{at.X + (before.X+after.X)/cosine*distance, at.Y + (before.Y+after.Y)/cosine*distance})
			continue
		}
		edge = append(edge, Point{at.X + before.X*distance, at.Y + before.Y*distance}, Point{at.X + after.X*distance, at.Y + after.Y*distance})
	}
	return edge
}

// circle is a circle in 24 corners.
func circle(at Point, radius float64) []Point {
	points := make([]Point, 24)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(points)))
		points[i] = Point{at.X + radius*cos, at.Y + radius*sin}
	}
	return points
}

// dashes cuts a line into pieces of length pattern[0], pattern[1] apart; without
// a pattern it is one piece.
func dashes(line []Point, pattern []float64) (pieces [][]Point) {
	if len(pattern) == 0 || len(line) < 2 {
		return [][]Point{line}
	}
	on, left := true, pattern[0] // of the piece or of the gap
	piece := []Point{line[0]}
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		for {
			length := math.Hypot(b.X-a.X, b.Y-a.Y)
			if length <= left {
				left -= length
				break
			}
			a = Point{a.X + (b.X-a.X)*left/length, a.Y + (b.Y-a.Y)*left/length}
			if on {
				pieces = append(pieces, append(piece, a))
				left = pattern[1]
			} else {
				left = pattern[0]
			}
			piece, on = []Point{a}, !on
		}
		piece = append(piece, b)
	}
	if on {
		pieces = append(pieces, piece)
	}
	return pieces
}

// write draws words.
func (p *painter) write(s shape, look style) error {
	size := fixed.Int26_6(math.Round(64 * scale * look.size))
	var advance fixed.Int26_6
	var letters []letter
	for _, r := range s.words {
		index, err := p.typeface.GlyphIndex(&p.glyphs, r)
		if err != nil {
			return err
		}
		letters = append(letters, letter{index, advance})
		step, err := p.typeface.GlyphAdvance(&p.glyphs, index, size, font.HintingNone)
		if err != nil {
			return err
		}
		advance += step
	}
	start := 0.0
	switch s.anchor {
	case "middle":
		start = -pixels(advance) / 2
	case "end":
		start = -pixels(advance)
	}
	if look.halo {
		for _, at := range circle(Point{}, 1.5) {
			if err := p.letters(s, letters, size, start, at, "#ffffff"); err != nil {
				return err
			}
		}
	}
	return p.letters(s, letters, size, start, Point{}, look.fill)
}

// letter is a glyph and its place after the first one.
type letter struct {
	index sfnt.GlyphIndex
	at    fixed.Int26_6
}

// pixels is a length of the font in pixels of the view box.
func pixels(x fixed.Int26_6) float64 { return float64(x) / (64 * scale) }

// letters draws words from start on, moved by off.
func (p *painter) letters(s shape, letters []letter, size fixed.Int26_6, start float64, off Point, colour string) error {
	for _, l := range letters {
		place := func(at fixed.Point26_6) [2]float32 {
			along, down := start+pixels(l.at+at.X), pixels(at.Y)
			if s.upward {
				along, down = down, -along
			}
			return [2]float32{float32(scale * (s.points[0].X + off.X + along)), float32(scale * (s.points[0].Y + off.Y + down))}
		}
		segments, err := p.typeface.LoadGlyph(&p.glyphs, l.index, size, nil)
		if err != nil {
			return err
		}
		for _, segment := range segments {
			of := piece{op: segment.Op}
			for i := range ends[segment.Op] {
				of.points[i] = place(segment.Args[i])
			}
			p.outline = append(p.outline, of)
		}
	}
	p.fill(colour, 0)
	return nil
}
