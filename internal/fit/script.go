package fit

import (
	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/plan"
	"d3p/internal/models/graph"
	"d3p/internal/models/guide"
	"d3p/internal/privacy"
)

// scriptable says whether script writes what the loop does: a private fit of a
// mean-field or delta guide by Adam, with the prior outside the clip.
func (l *Loop) scriptable() bool {
	p := l.plan
	_, isAdam := l.optimizer.(*optimizer.Adam)
	return p.Private && p.Draws == 1 && !l.vanilla && p.PriorGradient != plan.PriorInside && p.NoiseAware != plan.NoiseAwareTemper &&
		isAdam && (l.isMeanField() || l.isDelta())
}

// averages says whether any iterate is averaged.
func (l *Loop) averages() bool { return l.state.Average.start < l.plan.Steps }

func (l *Loop) isMeanField() bool { _, ok := l.guide.(guide.MeanField); return ok }
func (l *Loop) isDelta() bool     { _, ok := l.guide.(guide.Delta); return ok }

// script writes one step as tapes: Propose, Absorb and Advance in the terms of
// package graph. The parameters are those of parts, then C; the inputs those of
// appendInputs.
func (l *Loop) script(prior *graph.Tape) (post privacy.Postprocessing, err error) {
	post.Prior = prior
	x := l.newLeaves()
	theta := x.value[0]
	if l.isMeanField() {
		theta = x.b.Add(x.shift(), theta)
	}
	if post.Propose, err = graph.Compile(x.b, nil, []*graph.Node{theta}, graph.Options{}); err != nil {
		return post, err
	}
	post.Absorb, err = l.absorbTape()
	post.ClipNorm = post.Propose.P - 1
	return post, err
}

// leaves are the numbers of a step as nodes of a graph: of m, and of log s if the
// guide has it.
type leaves struct {
	b                          *graph.Builder
	p                          graph.Shape
	value, first, second, mean []*graph.Node // mean: if iterates are averaged
	variance, cross, sumSquare *graph.Node   // if the noise is followed
	clipNorm                   *graph.Node
	eta                        *graph.Node // of a mean-field guide
	rate, correct1, correct2   *graph.Node
	weight, averaging          *graph.Node
	curvature                  *curvatureLeaves // if the scales come from it
}

func (l *Loop) newLeaves() *leaves {
	b := graph.NewBuilder()
	x := &leaves{b: b, p: graph.Shape{{Name: "p", Size: l.plan.Latent}}}
	of := []string{"m", "log s"}[:l.guide.Size()/l.plan.Latent]
	for _, part := range []struct {
		name string
		to   *[]*graph.Node
	}{{"", &x.value}, {"first of ", &x.first}, {"second of ", &x.second}, {"mean of ", &x.mean}} {
		if part.to == &x.mean && !l.averages() {
			continue
		}
		for _, name := range of {
			*part.to = append(*part.to, b.Param(part.name+name, x.p))
		}
	}
	if l.plan.FollowsNoise() {
		x.variance, x.cross, x.sumSquare = b.Param("variance", x.p), b.Param("cross", x.p), b.Param("sum square", x.p)
	}
	if l.plan.NoiseAware == plan.NoiseAwareCurvature {
		x.curvature = newCurvatureLeaves(b, x.p)
	}
	x.clipNorm = b.Param("clip norm", nil)
	if l.isMeanField() {
		x.eta = b.Aux("eta", x.p, false)
	}
	x.rate, x.correct1, x.correct2 = b.Aux("rate", nil, false), b.Aux("correct1", nil, false), b.Aux("correct2", nil, false)
	x.weight, x.averaging = b.Aux("weight", nil, false), b.Aux("averaging", nil, false)
	if x.curvature != nil {
		x.curvature.weight = b.Aux("curvature weight", nil, false)
	}
	return x
}

// absorbTape makes the next state of a release.
func (l *Loop) absorbTape() (*graph.Tape, error) {
	x, p := l.newLeaves(), l.plan
	b := x.b
	release, count, prior := b.Aux("release", x.p, false), b.Aux("count", nil, false), b.Aux("prior", x.p, false)

	// the guide's pullback
	likelihood := b.Mul(b.Const(1/p.SamplingRate), release)
	grad := []*graph.Node{b.Add(likelihood, prior)}
	if l.isMeanField() {
		grad = append(grad, b.Add(b.Mul(x.shift(), grad[0]), b.Const(1)))
	}
	var value, first, second, mean []*graph.Node
	var gain *graph.Node // of m
	for k := range grad {
		v, f, s, g := x.adam(k, grad[k])
		value, first, second = append(value, v), append(first, f), append(second, s)
		if l.averages() {
			mean = append(mean, b.Add(x.mean[k], b.Mul(x.weight, b.Sub(v, x.mean[k])))) // average.add
		}
		if k == 0 {
			gain = g
		}
	}
	next := append(append(append(value, first...), second...), mean...)
	switch {
	case x.curvature != nil:
		next = append(next, l.addCurvature(x, likelihood, prior, gain)...)
	case p.FollowsNoise():
		precision := b.Const(0)
		if l.isMeanField() {
			precision = b.Exp(b.Mul(b.Const(-2), value[1]))
		}
		next = append(next, l.addNoise(x, gain, precision)...)
	}
	clipNorm := x.clipNorm
	if p.Clipping == plan.ClippingAdaptive {
		clipNorm = b.Mul(clipNorm, b.Exp(b.Mul(b.Const(-l.adapt.rate/l.adapt.expected), count)))
		clipNorm = b.Min(b.Max(clipNorm, b.Const(minClipNorm)), b.Const(maxClipNorm))
	}
	return graph.Compile(b, nil, append(next, clipNorm), graph.Options{})
}

// shift is θ − m of a mean-field guide: s·η.
func (x *leaves) shift() *graph.Node { return x.b.Mul(x.b.Exp(x.value[1]), x.eta) }

// noiseSD is Loop.noiseSD.
func (x *leaves) noiseSD(p *plan.Plan) *graph.Node {
	return x.b.Mul(x.b.Const(p.GradientNoise/p.SamplingRate), x.clipNorm)
}

// adam is a step of Adam on part k of λ.
func (x *leaves) adam(k int, grad *graph.Node) (next, first, second, gain *graph.Node) {
	return optimizer.AdamTape{
		Value: x.value[k], First: x.first[k], Second: x.second[k], Rate: x.rate, Correct1: x.correct1, Correct2: x.correct2,
	}.Next(x.b, grad)
}

// addNoise is noiseVariance.add: the next V, K and S.
func (l *Loop) addNoise(x *leaves, gain, precision *graph.Node) []*graph.Node {
	b := x.b
	decay := b.Exp(b.Neg(b.Mul(gain, precision)))
	variance := b.Add(b.Mul(b.Square(decay), x.variance), b.Square(b.Mul(gain, x.noiseSD(l.plan))))
	decayed := b.Mul(decay, x.cross)
	sumSquare := b.Add(x.sumSquare, b.Mul(x.averaging, b.Add(b.Add(decayed, decayed), variance)))
	cross := b.Where(x.averaging, b.Add(decayed, variance), x.cross)
	return []*graph.Node{variance, cross, sumSquare}
}
