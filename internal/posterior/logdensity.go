package posterior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/guide"
)

// LogDensity is the log density of draws (S×P, row-major) under the posterior
// with its noise, of shape (S); nil for guides other than mean-field and
// full-rank.
func (p *Posterior) LogDensity(draws []float64) []float64 {
	switch g := p.Guide.(type) {
	case guide.MeanField:
		return p.independentDensity(draws)
	case *guide.FullRank:
		return p.jointDensity(draws, p.covariance(g))
	}
	return nil
}

// independentDensity is LogDensity of independent normals.
func (p *Posterior) independentDensity(draws []float64) []float64 {
	n := len(p.Mean)
	sd, out := make([]float64, n), make([]float64, len(draws)/n)
	p.SD(sd)
	for i := range out {
		for j, x := range draws[i*n : (i+1)*n] {
			z := (x - p.Mean[j]) / sd[j]
			out[i] -= z*z/2 + math.Log(sd[j]) + math.Log(2*math.Pi)/2
		}
	}
	return out
}

// jointDensity is LogDensity of a normal with the given covariance; nil where it
// has no inverse.
func (p *Posterior) jointDensity(draws []float64, covariance *mat.SymDense) []float64 {
	var c mat.Cholesky
	if !c.Factorize(covariance) {
		return nil
	}
	n := len(p.Mean)
	out := make([]float64, len(draws)/n)
	d, solved := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range out {
		for j, x := range draws[i*n : (i+1)*n] {
			d.SetVec(j, x-p.Mean[j])
		}
		if c.SolveVecTo(solved, d) != nil {
			return nil
		}
		out[i] = -(mat.Dot(d, solved) + c.LogDet() + float64(n)*math.Log(2*math.Pi)) / 2
	}
	return out
}

// covariance is that of a full-rank guide and the noise together.
func (p *Posterior) covariance(g *guide.FullRank) *mat.SymDense {
	n := len(p.Mean)
	factor := make([]float64, n*(n+1)/2)
	g.Factor(factor, p.Lambda)
	out := product(factor, n)
	if p.NoiseFactor != nil {
		out.AddSym(out, product(p.NoiseFactor, n))
		return out
	}
	for j, v := range p.VarDP {
		out.SetSym(j, j, out.At(j, j)+v)
	}
	return out
}
