package posterior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
)

// declared is the posterior in the parameters that the model file declares, of one in
// whitened coordinates. A normal stays a normal. Where it has more parameters than a
// joint normal may have, independent ones keep their marginal variances.
func (p *Posterior) declared() *Posterior {
	m := p.Plan.Model()
	if m == nil || !m.Rotated() {
		return p
	}
	n := len(p.Mean)
	out := *p
	out.Trace.Mean = slices.Clone(p.Trace.Mean)
	for i := range p.Trace.Steps {
		m.Declared(out.Trace.Mean[i*n:(i+1)*n], p.Trace.Mean[i*n:(i+1)*n])
	}
	mean := make([]float64, n)
	m.Declared(mean, p.Mean)
	switch g := p.Guide.(type) {
	case guide.Sample:
		draws := make([]float64, g.Draws()*n)
		for i := range g.Draws() {
			g.At(draws[i*n:], p.Lambda, i)
			m.Declared(draws[i*n:(i+1)*n], draws[i*n:(i+1)*n])
		}
		out.Lambda = g.Lambda(draws)
		out.Mean, out.VarDP = out.Lambda[:n:n], make([]float64, n)
		out.LogSD, out.NoiseFactor = LogSD(g, out.Lambda, out.VarDP), nil
		_, ofNoise := p.covariancesAfter(m.DeclaredDirection)
		out.setNoise(ofNoise)
		return &out
	}
	ofGuide, ofNoise := p.covariancesAfter(m.DeclaredDirection)
	if n <= plan.JointLimit(m) && out.setMeanAndCovariance(mean, ofGuide, ofNoise) {
		return &out
	}
	out.LogSD, out.VarDP = make([]float64, n), make([]float64, n)
	for j := range n {
		out.LogSD[j] = math.Log(ofGuide.At(j, j)) / 2
		out.VarDP[j] = ofNoise.At(j, j)
	}
	out.Guide, out.NoiseFactor = guide.NewMeanField(n), nil
	out.Lambda = append(mean, out.LogSD...)
	out.Mean = out.Lambda[:n:n]
	return &out
}

// setMeanAndCovariance makes p a joint normal; it reports whether it could.
func (p *Posterior) setMeanAndCovariance(mean []float64, ofGuide, ofNoise *mat.SymDense) bool {
	p.Mean, p.LogSD, p.VarDP = mean, make([]float64, len(mean)), make([]float64, len(mean))
	return p.setCovariance(ofGuide, ofNoise)
}

// covariancesAfter returns the covariances of the guide and of the noise after the linear map
// turn of the coordinates.
func (p *Posterior) covariancesAfter(turn func(dst, x []float64)) (ofGuide, ofNoise *mat.SymDense) {
	n := len(p.Mean)
	columns := func(factor func(i int) []float64) *mat.SymDense {
		f := mat.NewDense(n, n, nil)
		x := make([]float64, n)
		for i := range n {
			turn(x, factor(i))
			f.SetCol(i, x)
		}
		out := mat.NewSymDense(n, nil)
		out.SymOuterK(1, f)
		return out
	}
	triangle := func(l []float64) func(i int) []float64 {
		return func(i int) []float64 { // column i
			x := make([]float64, n)
			for r := i; r < n; r++ {
				x[r] = l[r*(r+1)/2+i]
			}
			return x
		}
	}
	unit := func(i int, sd float64) []float64 {
		x := make([]float64, n)
		x[i] = sd
		return x
	}
	if g, ok := p.Guide.(*guide.FullRank); ok {
		l := make([]float64, n*(n+1)/2)
		g.Factor(l, p.Lambda)
		ofGuide = columns(triangle(l))
	} else {
		ofGuide = columns(func(i int) []float64 { return unit(i, math.Exp(p.LogSD[i])) })
	}
	if p.NoiseFactor != nil {
		return ofGuide, columns(triangle(p.NoiseFactor))
	}
	return ofGuide, columns(func(i int) []float64 { return unit(i, math.Sqrt(p.VarDP[i])) })
}
