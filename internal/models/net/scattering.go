package net

import (
	"math"

	"d3p/internal/models/graph"
)

// scattering is a cascade of fixed wavelets ψ and their moduli, averaged by φ: for each
// channel x of an image, at each 2^J-th position,
//
//	x ∗ φ;  |x ∗ ψ_jθ| ∗ φ;  ||x ∗ ψ_jθ| ∗ ψ_kη| ∗ φ, j < k < J
//
// in this order, with J scales and L orientations θ, η: 1 + JL + J(J−1)/2·L² channels.
// Bruna and Mallat 2013, arXiv:1203.1513. It has no weights, so that it costs no privacy:
// Tramèr and Boneh 2021, arXiv:2011.11660.
//
// A pyramid makes the scales: a value of scale j is halved j times, and there all wavelets
// are those of scale 0. Images go on beyond their edges as in mirrors.
func scattering(p *plan, l *Layer) step {
	m, ok := p.image(l, 2)
	if !ok {
		return nil
	}
	s := cascade{scales: l.Scales.Or(2), orientations: l.Orientations.Or(8)}
	if side := min(m.space[0].Size, m.space[1].Size); side>>s.scales == 0 {
		return p.fail(l.Kind.At, "fewer scales", "layer scattering halves %d positions %d times", side, s.scales)
	}
	out := m.sizes()
	for i := range out {
		for range s.scales {
			out[i] = halfOf(out[i])
		}
	}
	made := graph.Dim{Name: p.layer.Name, Size: m.channel.Size * s.channels()}
	p.shape = append(graph.Shape{made}, p.positions(m, out)...)
	shape, filters := p.shape, morlet(s.orientations)
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		s := s
		s.b, s.call, s.filters = b, c, b.Consts(graph.Shape{{Name: fields, Size: 2 * s.orientations}, {Name: "(in)", Size: 1}, {Name: "(y)", Size: taps}, {Name: "(x)", Size: taps}}, filters)
		x = b.Reshape(x, append(graph.Shape{m.channel}, m.space...))
		var list []*graph.Node
		for i := range m.channel.Size {
			list = append(list, s.averages(b.SliceRange(x, m.channel.Name, i, i+1, fields))...)
		}
		return b.Reshape(b.Concat(made, list...), shape)
	}
}

// fields is the dim of the images of a field.
const fields = "(field)"

// taps are the positions of a wavelet along an axis.
const taps = 7

// A cascade computes the scattering of one image. Its fields are several images of a scale,
// [field, y, x].
type cascade struct {
	scales, orientations int

	b       *graph.Builder
	call    *Call
	filters *graph.Node // [part and orientation, 1, y, x]
}

// channels is how many values each position has for a channel of the image.
func (s *cascade) channels() int {
	return 1 + s.scales*s.orientations + s.scales*(s.scales-1)/2*s.orientations*s.orientations
}

// averages lists those of orders 0, 1 and 2, [field, position].
func (s *cascade) averages(image *graph.Node) []*graph.Node {
	zeroth := s.averaged(image, 0)
	var first, second []*graph.Node
	for j := range s.scales {
		u := s.moduli(image)
		first = append(first, s.averaged(u, j))
		for i := range s.orientations {
			v := s.b.SliceRange(u, fields, i, i+1, fields)
			for k := j + 1; k < s.scales; k++ {
				v = s.halved(v)
				second = append(second, s.averaged(s.moduli(v), k))
			}
		}
		image = s.halved(image)
	}
	return append(append([]*graph.Node{zeroth}, first...), second...)
}

// moduli is |x ∗ ψ_θ| for all orientations of the one image of a field.
func (s *cascade) moduli(x *graph.Node) *graph.Node {
	const margin = taps / 2
	b, y, z := s.b, x.Shape()[1], x.Shape()[2]
	along := func(n int) axis { return axis{in: n + 2*margin, taps: taps, stride: 1, out: n} }
	w := window{along(y.Size), along(z.Size)}
	wide := b.Take(x, graph.Shape{{Name: fields, Size: 1}, {Name: places, Size: w.size()}}, mirrored(y.Size, z.Size, margin))
	patches := graph.Shape{{Name: seen, Size: w.taps()}, {Name: places, Size: w.places()}}
	both := b.MatMul(b.Reshape(s.filters, graph.Shape{{Name: fields, Size: 2 * s.orientations}, patches[0]}), b.Take(wide, patches, w.patches(1)))
	s.call.did(Operation{Kind: Convolution, In: wide, Out: both, Channels: 1, Axes: w.axes(), Filters: s.filters})
	part := func(i int) *graph.Node {
		return b.Square(b.SliceRange(both, fields, i*s.orientations, (i+1)*s.orientations, fields))
	}
	const least = 1e-12 // the derivative at 0 stays finite
	u := b.Sqrt(b.Add(b.Add(part(0), part(1)), b.Const(least)))
	return b.Reshape(u, graph.Shape{{Name: fields, Size: s.orientations}, y, z})
}

// averaged is a field of scale j, halved until scale J, as [field, position].
func (s *cascade) averaged(x *graph.Node, j int) *graph.Node {
	for ; j < s.scales; j++ {
		x = s.halved(x)
	}
	n := x.Shape()[0]
	return s.b.Reshape(x, graph.Shape{n, {Name: places, Size: x.Size() / n.Size}})
}

// halved is a field at every other position along both axes, after (1, 2, 1)/4 along each.
func (s *cascade) halved(x *graph.Node) *graph.Node {
	b, n, y, z := s.b, x.Shape()[0], x.Shape()[1], x.Shape()[2]
	for _, d := range []graph.Dim{z, y} {
		half := graph.Dim{Name: d.Name + "/2", Size: halfOf(d.Size)}
		matrix := b.Consts(graph.Shape{half, d}, halving(d.Size))
		x = b.MatMul(matrix, b.Permute(x, append([]string{d.Name}, others(x.Shape(), d.Name)...)...))
	}
	return b.Permute(x, n.Name, y.Name+"/2", z.Name+"/2")
}

// others are the names of the dims but one.
func others(s graph.Shape, name string) (list []string) {
	for _, d := range s {
		if d.Name != name {
			list = append(list, d.Name)
		}
	}
	return list
}

// halfOf is how many of n positions are every other one, from the first.
func halfOf(n int) int { return (n + 1) / 2 }

// halving is the matrix [⌈n/2⌉, n] of (1, 2, 1)/4 at every other position.
func halving(n int) []float64 {
	m := make([]float64, halfOf(n)*n)
	for p := range halfOf(n) {
		for t, weight := range []float64{0.25, 0.5, 0.25} {
			m[p*n+mirror(2*p+t-1, n)] += weight
		}
	}
	return m
}

// morlet are L wavelets [part and orientation, tap], the real parts first:
// exp(−(u² + s²v²)/2σ²)·(exp(iξu) − β)·s/2πσ², u along the orientation and v across, with β
// such that they sum to 0. σ = 0.8, ξ = 3π/4 and s = 4/L are those of Kymatio (Andreux et
// al. 2020, arXiv:1812.11214).
func morlet(orientations int) []float64 {
	const sigma, xi, size = 0.8, 0.75 * math.Pi, taps * taps
	slant := 4 / float64(orientations)
	values := make([]float64, 2*orientations*size)
	for k := range orientations {
		sin, cos := math.Sincos(math.Pi * float64(k) / float64(orientations))
		real, imaginary := values[k*size:][:size], values[(orientations+k)*size:][:size]
		var envelope [size]float64
		sum, wave := 0.0, 0.0
		for i := range size {
			y, x := float64(i/taps-taps/2), float64(i%taps-taps/2)
			u, v := x*cos+y*sin, slant*(y*cos-x*sin)
			g := math.Exp(-(u*u+v*v)/(2*sigma*sigma)) * slant / (2 * math.Pi * sigma * sigma)
			s, c := math.Sincos(xi * u)
			envelope[i], real[i], imaginary[i] = g, g*c, g*s
			sum += g
			wave += g * c
		}
		for i, g := range envelope {
			real[i] -= wave / sum * g
		}
	}
	return values
}

// mirrored are the positions of an image that the image with a margin shows.
func mirrored(height, width, margin int) (index []int32) {
	for y := -margin; y < height+margin; y++ {
		for x := -margin; x < width+margin; x++ {
			index = append(index, int32(mirror(y, height)*width+mirror(x, width)))
		}
	}
	return index
}

// mirror is the position from 0 to n − 1 that position i shows, with mirrors at the first
// and the last.
func mirror(i, n int) int {
	period := max(1, 2*(n-1))
	i = (i%period + period) % period
	return min(i, period-i, n-1)
}
