package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
)

// The two sets of images are as small as a test of a convolution allows. Their formats are
// those of MNIST (idx, labels in a separate file) and of NumPy.
const (
	digitCount, digitSide = 128, 28
	sceneCount, sceneSide = 32, 32
)

// segments are the strokes of seven-segment digits as two points each, in a box of width 1
// and height 2: top, upper left, upper right, middle, lower left, lower right, bottom.
var segments = [7][4]float64{{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {0, 1, 0, 2}, {1, 1, 1, 2}, {0, 2, 1, 2}}

// lit are the segments of each digit.
var lit = [10]string{"1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"}

// digits draws n grey images of digits, slanted, shifted and of varying thickness, as idx
// files of images and labels. The digits 0 to 9 repeat in order.
func digits(n int) (images, labels []byte) {
	rng := rand.New(rand.NewPCG(2026, 28))
	images = idxHead(n, digitSide, digitSide)
	labels = idxHead(n)
	for i := range n {
		digit := i % 10
		left, top := 8+3*rng.Float64(), 4+3*rng.Float64()
		size, slant := 7+2*rng.Float64(), 0.5*rng.Float64()-0.1
		width := 1 + 0.8*rng.Float64()
		for y := range digitSide {
			for x := range digitSide {
				v := (float64(y) - top) / size
				u := (float64(x)-left)/size - slant*(1-v/2)
				images = append(images, grey(ink(lit[digit], u, v)*size, width))
			}
		}
		labels = append(labels, byte(digit))
	}
	return images, labels
}

// ink is the distance of a point from the nearest stroke.
func ink(on string, u, v float64) float64 {
	least := math.Inf(1)
	for k, s := range segments {
		if on[k] == '1' {
			du, dv := u-clamp(u, s[0], s[2]), v-clamp(v, s[1], s[3])
			least = min(least, math.Hypot(du, dv))
		}
	}
	return least
}

// grey is the brightness of a pixel this far from a stroke of this half width.
func grey(distance, width float64) byte {
	return byte(math.Round(255 * clamp(width+0.5-distance, 0, 1)))
}

// idxHead is the head of an idx file of bytes; see records/idx.go.
func idxHead(dims ...int) []byte {
	head := []byte{0, 0, 8, byte(len(dims))} // 8 means bytes
	for _, n := range dims {
		head = binary.BigEndian.AppendUint32(head, uint32(n))
	}
	return head
}

// scenes draws n colour images of a disc, a square or a diamond on a background, as an npy
// file of bytes of shape (n, 3, 32, 32): colour, row, column.
func scenes(n int) []byte {
	rng := rand.New(rand.NewPCG(2026, 32))
	out := npyHead("|u1", n, 3, sceneSide, sceneSide)
	for i := range n {
		var front, back [3]float64
		for c := range 3 {
			front[c], back[c] = 155+100*rng.Float64(), 100*rng.Float64()
		}
		x0, y0, radius := 10+12*rng.Float64(), 10+12*rng.Float64(), 5+5*rng.Float64()
		for c := range 3 {
			for y := range sceneSide {
				for x := range sceneSide {
					dx, dy := math.Abs(float64(x)-x0), math.Abs(float64(y)-y0)
					inside := clamp(radius+0.5-[]float64{math.Hypot(dx, dy), max(dx, dy), dx + dy}[i%3], 0, 1)
					out = append(out, byte(math.Round(front[c]*inside+back[c]*(1-inside))))
				}
			}
		}
	}
	return out
}

// npyHead is the head of an npy file of version 1.0 (numpy.lib.format). Its length is a
// multiple of 64.
func npyHead(descr string, shape ...int) []byte {
	dims := ""
	for _, n := range shape {
		dims += fmt.Sprintf("%d, ", n)
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims)
	const before = 10 // magic, version, length
	fill := 63 - (before+len(dict))%64
	var head bytes.Buffer
	head.WriteString("\x93NUMPY\x01\x00")
	head.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(dict)+fill+1)))
	head.WriteString(dict)
	head.WriteString(string(bytes.Repeat([]byte(" "), fill)) + "\n")
	return head.Bytes()
}
