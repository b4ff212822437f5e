package net_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/net"
)

// picture is an image by its rows.
type picture [][]float64

// at is position (y, x), beyond the edges as in mirrors.
func (p picture) at(y, x int) float64 {
	inside := func(i, n int) int {
		for i < 0 || i >= n {
			if i < 0 {
				i = -i
			} else {
				i = 2*(n-1) - i
			}
		}
		return i
	}
	return p[inside(y, len(p))][inside(x, len(p[0]))]
}

// half is every other position of p after (1, 2, 1)/4 along both axes.
func (p picture) half() picture {
	var q picture
	for y := 0; y < len(p); y += 2 {
		var row []float64
		for x := 0; x < len(p[0]); x += 2 {
			sum := 0.0
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					sum += float64((2-dy*dy)*(2-dx*dx)) * p.at(y+dy, x+dx) / 16
				}
			}
			row = append(row, sum)
		}
		q = append(q, row)
	}
	return q
}

// modulus is |p ∗ ψ| for a Morlet wavelet at an angle, by its definition.
func (p picture) modulus(angle, slant float64) picture {
	var envelope, wave [7][7]complex128
	var total, sum complex128
	for dy := range 7 {
		for dx := range 7 {
			z := complex(float64(dx-3), float64(dy-3)) * cmplx.Rect(1, -angle)
			u, v := real(z), imag(z)
			g := complex(math.Exp(-(u*u+slant*slant*v*v)/(2*0.64))*slant/(2*math.Pi*0.64), 0)
			envelope[dy][dx], wave[dy][dx] = g, g*cmplx.Exp(complex(0, 0.75*math.Pi*u))
			total += g
			sum += wave[dy][dx]
		}
	}
	q := make(picture, len(p))
	for y := range p {
		for x := range p[0] {
			var s complex128
			for dy := range 7 {
				for dx := range 7 {
					s += (wave[dy][dx] - sum/total*envelope[dy][dx]) * complex(p.at(y+dy-3, x+dx-3), 0)
				}
			}
			q[y] = append(q[y], cmplx.Abs(s))
		}
	}
	return q
}

// scatteredTwice are the averages of two scales.
func scatteredTwice(p picture, orientations int) (list []float64) {
	angle := func(i int) float64 { return math.Pi * float64(i) / float64(orientations) }
	slant := 4 / float64(orientations)
	add := func(p picture, halvings int) {
		for range halvings {
			p = p.half()
		}
		for _, row := range p {
			list = append(list, row...)
		}
	}
	add(p, 2)
	for i := range orientations {
		add(p.modulus(angle(i), slant), 2)
	}
	for i := range orientations {
		add(p.half().modulus(angle(i), slant), 1)
	}
	for i := range orientations {
		u := p.modulus(angle(i), slant).half()
		for k := range orientations {
			add(u.modulus(angle(k), slant), 1)
		}
	}
	return list
}

// scattered runs the layer on an image.
func scattered(t *testing.T, p []picture, orientations int) []float64 {
	t.Helper()
	var x []float64
	for _, q := range p {
		for _, row := range q {
			x = append(x, row...)
		}
	}
	n := resolveAt(t, len(x), fmt.Sprintf("  n: {input: [all], layers: [{reshape: {shape: [%d, %d, %d]}}, {scattering: {orientations: %d}}]}\n", len(p), len(p[0]), len(p[0][0]), orientations))
	y, _ := forward(t, n, weightless, x)
	return y
}

func randomPicture(height, width int, rng *rand.Rand) picture {
	p := make(picture, height)
	for y := range p {
		p[y] = normals(width, 1, rng)
	}
	return p
}

// TestScattering checks two channels of two scales against the definition.
func TestScattering(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 21))
	p := []picture{randomPicture(9, 6, rng), randomPicture(9, 6, rng)}
	want := append(scatteredTwice(p[0], 3), scatteredTwice(p[1], 3)...)
	// a modulus is √(|·|² + 1e-12)
	for i, y := range scattered(t, p, 3) {
		if math.Abs(y-want[i]) > 1e-9 {
			t.Fatalf("value %d of %d is %v, want %v", i, len(want), y, want[i])
		}
	}
	if got := len(scattered(t, p, 3)); got != len(want) {
		t.Errorf("%d values, want %d", got, len(want))
	}
}

// TestScatteringTurns: an image that is turned by a right angle has the averages of the
// orientations that are turned, turned.
func TestScatteringTurns(t *testing.T) {
	const n, out, orientations = 9, 3, 4 // 9, 5, 3: the middle stays in the middle
	p := randomPicture(n, n, rand.New(rand.NewPCG(4, 21)))
	turned := make(picture, n)
	for y := range n {
		for x := range n {
			turned[y] = append(turned[y], p[n-1-x][y])
		}
	}
	a, b := scattered(t, []picture{p}, orientations), scattered(t, []picture{turned}, orientations)
	across := func(i int) int { return (i + orientations/2) % orientations }
	channel := func(order, i, k int) int {
		switch order {
		case 0:
			return 0
		case 1:
			return 1 + i*orientations + k // scale and orientation
		}
		return 1 + 2*orientations + i*orientations + k
	}
	compare := func(from, to int) {
		for y := range out {
			for x := range out {
				if got, want := b[(to*out+y)*out+x], a[(from*out+out-1-x)*out+y]; math.Abs(got-want) > 1e-9 {
					t.Errorf("channel %d at (%d, %d) is %v, want %v of channel %d", to, y, x, got, want, from)
				}
			}
		}
	}
	compare(0, 0)
	for k := range orientations {
		for scale := range 2 {
			compare(channel(1, scale, k), channel(1, scale, across(k)))
		}
		for i := range orientations {
			compare(channel(2, i, k), channel(2, across(i), across(k)))
		}
	}
}

// TestScatteringRefuses: an image that is too small, and a value that is no image.
func TestScatteringRefuses(t *testing.T) {
	for _, layers := range []string{"{scattering: {scales: 3}}", "flatten, scattering"} {
		if _, errs := net.Resolve(parse(t, "  n: {input: [y, x], layers: ["+layers+"]}\n").Nets[0], dims(1)); len(errs) != 1 {
			t.Errorf("%s: %v", layers, errs)
		}
	}
}
