package net_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/net"
)

// TestAugment checks that each of the 9 moves and 2 mirrorings is as frequent as the
// others, that nothing else happens, and that nothing happens without noise.
func TestAugment(t *testing.T) {
	const draws, high, wide = 18000, 5, 4
	n := resolve(t, "  n: {input: [h, y, x], layers: [{augment: {shift: 1, flip: true}}]}\n")
	size := n.Input().Size()
	if got := n.Input(); got[1].Size != high || got[2].Size != wide {
		t.Fatalf("input %v", got)
	}
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, nil, []*graph.Node{output(n, b, b.Columns(0, graph.Dim{Name: "(v)", Size: size}), "")}, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	images := make(map[string]string) // the outcome by its pixels
	image := func(c, y, x int) float64 {
		y, x = min(max(y, 0), high-1), min(max(x, 0), wide-1)
		return float64(1 + (c*high+y)*wide + x)
	}
	for down := -1; down <= 1; down++ {
		for right := -1; right <= 1; right++ {
			for _, flip := range []bool{false, true} {
				pixels := make([]float64, size)
				for i := range pixels {
					x := i % wide
					if flip {
						x = wide - 1 - x
					}
					pixels[i] = image(i/wide/high, i/wide%high-down, x-right)
				}
				images[fmt.Sprint(pixels)] = fmt.Sprint(down, right, flip)
			}
		}
	}
	m, rows := graph.NewMachine(tape, draws), make([]float64, size*draws)
	for i := range rows {
		rows[i] = float64(1 + i%size)
	}
	m.Globals(nil, nil)
	m.Records(rows, size, draws, normals(tape.AuxRecord*draws, 1, rand.New(rand.NewPCG(6, 6))))
	seen, out := make(map[string]int), m.Output(0)
	for i := range draws {
		pixels := make([]float64, size)
		for j := range pixels {
			pixels[j] = out[j*draws+i]
		}
		outcome, ok := images[fmt.Sprint(pixels)]
		if !ok {
			t.Fatalf("draw %d: %v is no move of the image", i, pixels)
		}
		seen[outcome]++
	}
	// P(any of 18 counts is more than 6.6 sd off) < 1e-9
	expected := float64(draws) / float64(len(images))
	for _, outcome := range images {
		if off := math.Abs(float64(seen[outcome]) - expected); off > 6.6*math.Sqrt(expected) {
			t.Errorf("%s: %d times of %d", outcome, seen[outcome], draws)
		}
	}
	x := b.Columns(0, graph.Dim{Name: "(v)", Size: size})
	if y := n.Apply(b, b.Reshape(x, n.Input()), "", net.Call{}); y != b.Reshape(x, n.Input()) {
		t.Errorf("without noise %v becomes %v", x, y)
	}
}
