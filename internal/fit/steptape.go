package fit

import (
	"slices"

	"d3p/internal/fit/optimizer"
	"d3p/internal/fit/plan"
	"d3p/internal/models/graph"
	"d3p/internal/models/guide"
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

// stepTape writes one step of a loop as tapes, for engines that take many steps in one
// call: Propose, Absorb and Advance in the terms of package graph. The parameters are
// Loop.arrays, then C; the inputs are those of appendInputs. TestStepTape compares it
// with the loop.
type stepTape struct {
	plan      *plan.Plan
	meanField bool // false: a delta guide
	averages  bool
	adapt     adaptiveClip
	untouched []int
}

// newStepTape reports false for a loop without a tape. A loop has one in a private fit of a
// mean-field or delta guide by Adam, with aligned gradients and no schedule.
func newStepTape(l *Loop) (stepTape, bool) {
	p := l.plan
	_, isAdam := l.optimizer.(*optimizer.Adam)
	_, meanField := l.guide.(guide.MeanField)
	_, delta := l.guide.(guide.Delta)
	ok := p.Private && p.Draws == 1 && p.NoiseSchedule == nil && p.BatchSchedule == nil && p.ClipNormSchedule == nil && !l.vanilla && isAdam && (meanField || delta)
	return stepTape{p, meanField, l.averages(), l.adapt, l.untouched}, ok
}

// compile returns the tapes, with the tape of the prior's gradient.
func (f stepTape) compile(prior *graph.Tape) (post privacy.Postprocessing, err error) {
	post.Prior = prior
	x := f.newLeaves()
	theta := x.value[0]
	if f.meanField {
		theta = x.b.Add(x.shift(), theta)
	}
	if post.Propose, err = graph.Compile(x.b, nil, []*graph.Node{theta}, graph.Options{}); err != nil {
		return post, err
	}
	post.Absorb, err = f.absorb()
	post.ClipNorm = post.Propose.P - 1
	return post, err
}

// leaves are the numbers of a step as nodes of a graph. value, first, second and mean have
// one node for m, and one for log s of a mean-field guide.
type leaves struct {
	b                          *graph.Builder
	p                          graph.Shape
	value, first, second, mean []*graph.Node     // mean: if iterates are averaged
	variance, cross, sumSquare *graph.Node       // if the noise is followed
	sums                       *gradientSumsTape // if the scales come from the curvature
	clipNorm                   *graph.Node
	eta                        *graph.Node // of a mean-field guide
	rate, correct1, correct2   *graph.Node
	weight, averaging          *graph.Node
}

func (f stepTape) newLeaves() *leaves {
	b := graph.NewBuilder()
	x := &leaves{b: b, p: graph.Shape{{Name: "p", Size: f.plan.Latent}}}
	of := []string{"m"}
	if f.meanField {
		of = append(of, "log s")
	}
	for _, array := range []struct {
		name string
		to   *[]*graph.Node
	}{{"", &x.value}, {"first of ", &x.first}, {"second of ", &x.second}, {"mean of ", &x.mean}} {
		if array.to == &x.mean && !f.averages {
			continue
		}
		for _, name := range of {
			*array.to = append(*array.to, b.Param(array.name+name, x.p))
		}
	}
	if f.plan.FollowsNoise() {
		x.variance, x.cross, x.sumSquare = b.Param("variance", x.p), b.Param("cross", x.p), b.Param("sum square", x.p)
	}
	if f.plan.SumsGradients() {
		x.sums = newGradientSumsTape(b, x.p)
	}
	x.clipNorm = b.Param("clip norm", nil)
	if f.meanField {
		x.eta = b.Aux("eta", x.p, false)
	}
	x.rate, x.correct1, x.correct2 = b.Aux("rate", nil, false), b.Aux("correct1", nil, false), b.Aux("correct2", nil, false)
	x.weight, x.averaging = b.Aux("weight", nil, false), b.Aux("averaging", nil, false)
	if x.sums != nil {
		x.sums.weight, x.sums.settled = b.Aux("step weight", nil, false), b.Aux("settled weight", nil, false)
	}
	return x
}

// absorb is the tape from a release to the next state.
func (f stepTape) absorb() (*graph.Tape, error) {
	x, p := f.newLeaves(), f.plan
	b := x.b
	release, count, prior := b.Aux("release", x.p, false), b.Aux("count", nil, false), b.Aux("prior", x.p, false)

	// the guide's pullback
	likelihood := b.Mul(f.perRelease(b, x.p), release)
	grad := []*graph.Node{b.Add(likelihood, prior)}
	if f.meanField {
		grad = append(grad, b.Add(b.Mul(x.shift(), grad[0]), b.Const(1)))
	}
	var value, first, second, mean []*graph.Node
	var gain *graph.Node // of m
	for k := range grad {
		v, m1, m2, g := optimizer.AdamTape{
			Value: x.value[k], First: x.first[k], Second: x.second[k], Rate: x.rate, Correct1: x.correct1, Correct2: x.correct2,
		}.Next(b, grad[k])
		value, first, second = append(value, v), append(first, m1), append(second, m2)
		if f.averages {
			mean = append(mean, b.Add(x.mean[k], b.Mul(x.weight, b.Sub(v, x.mean[k])))) // average.add
		}
		if k == 0 {
			gain = g
		}
	}
	next := append(append(append(value, first...), second...), mean...)
	noiseSD := b.Mul(b.Const(p.GradientNoise/p.SamplingRate), x.clipNorm) // Loop.noiseSD
	switch {
	case x.sums != nil:
		next = append(next, x.addGradientSums(likelihood, prior, gain, noiseSD)...)
	case p.FollowsNoise():
		precision := b.Const(0)
		if f.meanField {
			precision = b.Exp(b.Mul(b.Const(-2), value[1]))
		}
		next = append(next, x.addNoise(gain, precision, noiseSD)...)
	}
	clipNorm := x.clipNorm
	if p.Clipping == settings.ClippingAdaptive { // adaptiveClip.next
		clipNorm = b.Mul(clipNorm, b.Exp(b.Mul(b.Const(-f.adapt.rate/f.adapt.expected), count)))
		clipNorm = b.Min(b.Max(clipNorm, b.Const(plan.MinClipNorm)), b.Const(p.MostClipNorm()))
	}
	return graph.Compile(b, nil, append(next, clipNorm), graph.Options{})
}

// perRelease is what a release of each coordinate counts: 1/q, 0 for those in Loop.untouched.
func (f stepTape) perRelease(b *graph.Builder, p graph.Shape) *graph.Node {
	if len(f.untouched) == 0 {
		return b.Const(1 / f.plan.SamplingRate)
	}
	scale := slices.Repeat([]float64{1 / f.plan.SamplingRate}, f.plan.Latent)
	for _, j := range f.untouched {
		scale[j] = 0
	}
	return b.Consts(p, scale)
}

// shift is θ − m of a mean-field guide: s·η.
func (x *leaves) shift() *graph.Node { return x.b.Mul(x.b.Exp(x.value[1]), x.eta) }

// addNoise is noiseVariance.add: the next V, K and S.
func (x *leaves) addNoise(gain, precision, noiseSD *graph.Node) []*graph.Node {
	b := x.b
	decay := b.Exp(b.Neg(b.Mul(gain, precision)))
	variance := b.Add(b.Mul(b.Square(decay), x.variance), b.Square(b.Mul(gain, noiseSD)))
	decayed := b.Mul(decay, x.cross)
	sumSquare := b.Add(x.sumSquare, b.Mul(x.averaging, b.Add(b.Add(decayed, decayed), variance)))
	cross := b.Where(x.averaging, b.Add(decayed, variance), x.cross)
	return []*graph.Node{variance, cross, sumSquare}
}
