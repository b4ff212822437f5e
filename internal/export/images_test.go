package export

import (
	"bytes"
	"image/color"
	"image/png"
	"testing"
)

// Three images of 2×3 in two columns: each number has its place in the grid, and the empty
// fourth place is white.
func TestImages(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape []int
		want  [3]color.NRGBA // pixel (1, 2) of each image
	}{
		{"grey", []int{2, 3}, [3]color.NRGBA{{50, 50, 50, 255}, {60, 60, 60, 255}, {70, 70, 70, 255}}},
		{"first", []int{3, 2, 3}, [3]color.NRGBA{{50, 110, 170, 255}, {60, 120, 180, 255}, {70, 130, 190, 255}}},
		{"last", []int{2, 3, 3}, [3]color.NRGBA{{150, 160, 170, 255}, {160, 170, 180, 255}, {170, 180, 190, 255}}},
	} {
		l, err := LayoutOf(c.shape, -3, 22.5)
		if err != nil {
			t.Fatal(err)
		}
		var images [][]float64
		for i := range 3 {
			numbers := make([]float64, l.Size())
			for j := range numbers {
				numbers[j] = float64(i+j) - 3
			}
			images = append(images, numbers)
		}
		var b bytes.Buffer
		if err := WriteImages(&b, l, images, 2, "a claim, ε = 1"); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b.Bytes(), []byte("Comment\x00\x00\x00\x00\x00a claim, ε = 1")) {
			t.Errorf("%s: the comment is not in the file", c.name)
		}
		grid, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if size := grid.Bounds().Size(); size.X != 2*3+gap || size.Y != 2*2+gap {
			t.Errorf("%s: size %v", c.name, size)
		}
		for i, want := range c.want {
			if got := color.NRGBAModel.Convert(grid.At(i%2*(3+gap)+2, i/2*(2+gap)+1)); got != want {
				t.Errorf("%s: image %d has %v, want %v", c.name, i, got, want)
			}
		}
		white := color.NRGBA{255, 255, 255, 255}
		for _, p := range [][2]int{{3, 0}, {0, 2}, {7, 5}} {
			if got := color.NRGBAModel.Convert(grid.At(p[0], p[1])); got != white {
				t.Errorf("%s: %v between the images is %v", c.name, p, got)
			}
		}
	}
}

func TestLayoutOfRefuses(t *testing.T) {
	for _, shape := range [][]int{nil, {784}, {2, 28, 28}, {1, 3, 28, 28}} {
		if l, err := LayoutOf(shape, 0, 1); err == nil {
			t.Errorf("%v is %+v", shape, l)
		}
	}
}
