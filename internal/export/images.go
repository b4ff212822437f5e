package export

import (
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
)

// Layout is the place of an image's pixels among its numbers.
type Layout struct {
	Height, Width int
	// Channels is 1 for grey, 3 for red, green and blue. With Last the channels are the
	// last dim, else the first.
	Channels int
	Last     bool
	// Lower and Upper are the numbers of black and white.
	Lower, Upper float64
}

// LayoutOf is the layout of an array with these sizes: rows and columns of a grey
// image, with 1 or 3 channels before or after them.
func LayoutOf(shape []int, lower, upper float64) (Layout, error) {
	l := Layout{Channels: 1, Lower: lower, Upper: upper}
	channels := func(n int) bool { return n == 1 || n == 3 }
	switch {
	case len(shape) == 2:
		l.Height, l.Width = shape[0], shape[1]
	case len(shape) == 3 && channels(shape[0]):
		l.Channels, l.Height, l.Width = shape[0], shape[1], shape[2]
	case len(shape) == 3 && channels(shape[2]):
		l.Height, l.Width, l.Channels, l.Last = shape[0], shape[1], shape[2], true
	default:
		return l, fmt.Errorf("an array of shape %v is no image; an image has rows and columns, and 1 or 3 channels before or after them", shape)
	}
	return l, nil
}

// Size is the number of numbers of an image.
func (l Layout) Size() int { return l.Height * l.Width * l.Channels }

// at is the place of a number.
func (l Layout) at(channel, y, x int) int {
	if l.Last {
		return (y*l.Width+x)*l.Channels + channel
	}
	return (channel*l.Height+y)*l.Width + x
}

// gap is the number of pixels between images.
const gap = 2

// WriteImages draws images, each of l.Size numbers, in rows of columns, the first at the
// upper left, as a PNG. Numbers outside the layout's bounds are moved to the bounds; an
// empty image leaves its place blank. comment becomes the file's text "Comment".
func WriteImages(w io.Writer, l Layout, images [][]float64, columns int, comment string) error {
	rows := (len(images) + columns - 1) / columns
	grid := image.NewNRGBA(image.Rect(0, 0, columns*(l.Width+gap)-gap, max(1, rows*(l.Height+gap)-gap)))
	for i := range grid.Pix {
		grid.Pix[i] = 0xff // white between the images
	}
	for i, numbers := range images {
		left, top := i%columns*(l.Width+gap), i/columns*(l.Height+gap)
		for p := range l.Height * l.Width {
			if len(numbers) == 0 {
				break
			}
			y, x := p/l.Width, p%l.Width
			grid.SetNRGBA(left+x, top+y, l.pixel(numbers, y, x))
		}
	}
	return encode(w, grid, comment)
}

// pixel is the colour of one pixel.
func (l Layout) pixel(numbers []float64, y, x int) color.NRGBA {
	level := func(channel int) uint8 {
		v := (numbers[l.at(channel%l.Channels, y, x)] - l.Lower) / (l.Upper - l.Lower)
		return uint8(math.Round(255 * min(max(v, 0), 1)))
	}
	return color.NRGBA{R: level(0), G: level(1), B: level(2), A: 0xff}
}
