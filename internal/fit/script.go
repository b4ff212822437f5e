package fit

import (
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// script writes one step of a mean-field fit by Adam as tapes: Propose, Absorb
// and Advance in the terms of package graph. The parameters are, each of P
// scalars but the last, λ = (m, log s), the means of Adam of both, the averages
// of both, the three arrays of noiseVariance, and C.
func (l *Loop) script(prior *graph.Tape) (post privacy.Postprocessing, err error) {
	post.Prior = prior
	x := newLeaves(l.plan.Latent)
	s := x.b.Exp(x.logS)
	theta := x.b.Add(x.b.Mul(s, x.eta), x.m)
	if post.Propose, err = graph.Compile(x.b, nil, []*graph.Node{theta}, graph.Options{}); err != nil {
		return post, err
	}
	post.Absorb, err = l.absorbTape()
	post.ClipNorm = post.Absorb.P - 1
	return post, err
}

// leaves are the numbers of the script as nodes of a graph.
type leaves struct {
	b *graph.Builder
	// the state
	m, logS         *graph.Node
	first, second   [2]*graph.Node // of m, of log s
	mean            [2]*graph.Node
	variance, cross *graph.Node
	sumSquare       *graph.Node
	clipNorm        *graph.Node
	// the inputs
	eta                      *graph.Node
	rate, correct1, correct2 *graph.Node
	weight, averaging        *graph.Node
}

func newLeaves(latent int) *leaves {
	b := graph.NewBuilder()
	p := graph.Shape{{Name: "p", Size: latent}}
	pair := func(name string) [2]*graph.Node {
		return [2]*graph.Node{b.Param(name+" of m", p), b.Param(name+" of log s", p)}
	}
	x := &leaves{b: b, m: b.Param("m", p), logS: b.Param("log s", p), first: pair("first"), second: pair("second"), mean: pair("mean")}
	x.variance, x.cross, x.sumSquare = b.Param("variance", p), b.Param("cross", p), b.Param("sum square", p)
	x.clipNorm = b.Param("clip norm", nil)
	x.eta = b.Aux("eta", p, false)
	x.rate, x.correct1, x.correct2 = b.Aux("rate", nil, false), b.Aux("correct1", nil, false), b.Aux("correct2", nil, false)
	x.weight, x.averaging = b.Aux("weight", nil, false), b.Aux("averaging", nil, false)
	return x
}

// absorbTape makes the next state of a release.
func (l *Loop) absorbTape() (*graph.Tape, error) {
	x, plan := newLeaves(l.plan.Latent), l.plan
	b := x.b
	p := graph.Shape{{Name: "p", Size: plan.Latent}}
	release, count, prior := b.Aux("release", p, false), b.Aux("count", nil, false), b.Aux("prior", p, false)

	// the guide's pullback
	grad := b.Add(b.Mul(b.Const(1/plan.SamplingRate), release), prior)
	gradS := b.Add(b.Mul(b.Mul(b.Exp(x.logS), x.eta), grad), b.Const(1))

	m, firstM, secondM, gain := x.adam(x.m, grad, 0)
	logS, firstS, secondS, _ := x.adam(x.logS, gradS, 1)

	// noiseVariance.add
	precision := b.Exp(b.Mul(b.Const(-2), logS))
	decay := b.Exp(b.Neg(b.Mul(gain, precision)))
	noiseSD := b.Mul(b.Const(plan.GradientNoise/plan.SamplingRate), x.clipNorm)
	variance := b.Add(b.Mul(b.Square(decay), x.variance), b.Square(b.Mul(gain, noiseSD)))
	decayed := b.Mul(decay, x.cross)
	sumSquare := b.Add(x.sumSquare, b.Mul(x.averaging, b.Add(b.Add(decayed, decayed), variance)))
	cross := b.Where(x.averaging, b.Add(decayed, variance), x.cross)

	// average.add
	meanM := b.Add(x.mean[0], b.Mul(x.weight, b.Sub(m, x.mean[0])))
	meanS := b.Add(x.mean[1], b.Mul(x.weight, b.Sub(logS, x.mean[1])))

	clipNorm := x.clipNorm
	if plan.Clipping == ClippingAdaptive {
		clipNorm = b.Mul(clipNorm, b.Exp(b.Mul(b.Const(-l.adapt.rate/l.adapt.expected), count)))
		clipNorm = b.Min(b.Max(clipNorm, b.Const(minClipNorm)), b.Const(maxClipNorm))
	}
	next := []*graph.Node{m, logS, firstM, firstS, secondM, secondS, meanM, meanS, variance, cross, sumSquare, clipNorm}
	return graph.Compile(b, nil, next, graph.Options{})
}

// adam is simd.AdamStep on parameter k: the next value, the next running means,
// and the gain.
func (x *leaves) adam(value, grad *graph.Node, k int) (next, first, second, gain *graph.Node) {
	b := x.b
	first = b.Add(b.Mul(b.Const(adamBeta1), x.first[k]), b.Mul(b.Const(1-adamBeta1), grad))
	second = b.Add(b.Mul(b.Const(adamBeta2), x.second[k]), b.Mul(b.Mul(b.Const(1-adamBeta2), grad), grad))
	gain = b.Div(x.rate, b.Add(b.Sqrt(b.Div(second, x.correct2)), b.Const(adamEpsilon)))
	return b.Add(value, b.Div(b.Mul(gain, first), x.correct1)), first, second, gain
}
