package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/stattest"
)

// A scenario is an attacked fit: a model, the records that are always in the table, and
// canaries. A fair coin decides whether a canary is in the table.
type scenario struct {
	name     string
	model    string
	header   string
	base     []string   // rows that are always in the table
	canaries [][]string // rows per canary's unit
	args     []string   // of d3p fit
	rate     float64    // expected part of the steps with a given record; 0: all steps
	whole    bool       // the sampler draws no batches
	runs     int        // fits with separate coins, for several canaries
}

// attack is an attack on one scenario.
type attack struct {
	options
	scenario
	dir string
}

// finding is the result of an attack.
type finding struct {
	epsilon, delta float64 // claimed
	fits           int
	atLeast        float64 // epsilon, with confidence
}

// Prices of the attacked fits. One canary is attacked at a large delta, which needs the
// fewest fits, many canaries at a small one, as their theorem requires.
var (
	priceOfOne  = []string{"--epsilon=1", "--delta=0.1"}
	priceOfMany = []string{"--epsilon=8", "--delta=1e-6"}
)

func (a attack) run() (finding, error) {
	for name, text := range map[string]string{"model.yaml": a.model, "hospitals.csv": hospitals} {
		if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600); err != nil {
			return finding{}, err
		}
	}
	directions, origin, moved, err := a.pilot()
	if err != nil {
		return finding{}, err
	}
	if len(a.canaries) == 1 {
		return a.repeated(directions, origin, moved)
	}
	return a.oneRun(directions, origin)
}

// pilotFits are averaged for one canary, so that their small noise does not matter. Many
// canaries have two pilot fits each.
const pilotFits = 16

// pilot fits with almost no noise: origin are the parameters without canaries, row i of
// directions is the direction in which canary i moves them, and moved is the distance of
// the last move
func (a attack) pilot() (directions *mat.Dense, origin []float64, moved float64, err error) {
	sampled := func(arg string) bool { return strings.HasPrefix(arg, "--sampling") }
	quiet := append(slices.DeleteFunc(slices.Clone(a.args), sampled), "--epsilon=300", "--delta=1e-6")
	if !a.whole {
		quiet = append(quiet, "--sampling=full")
	}
	each := pilotFits
	if len(a.canaries) > 1 {
		each = 2
	}
	fits, err := a.fit("pilot", nil, pilotFits, quiet)
	if err != nil {
		return nil, nil, 0, err
	}
	origin = mean(fits)
	directions = mat.NewDense(len(a.canaries), len(origin), nil)
	for i := range a.canaries {
		fits, err := a.fit("pilot-"+strconv.Itoa(i), []int{i}, each, quiet)
		if err != nil {
			return nil, nil, 0, err
		}
		row := mat.NewVecDense(len(origin), mean(fits))
		row.SubVec(row, mat.NewVecDense(len(origin), origin))
		moved = row.Norm(2)
		if !(moved > 0) {
			return nil, nil, 0, fmt.Errorf("canary %d moves nothing", i)
		}
		row.ScaleVec(1/moved, row)
		directions.SetRow(i, row.RawVector().Data)
	}
	return directions, origin, moved, nil
}

// mean is the mean of vectors.
func mean(vectors [][]float64) []float64 {
	sum := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		for j, x := range v {
			sum[j] += x / float64(len(vectors))
		}
	}
	return sum
}

// repeated fits the tables with and without the canary many times each. It guesses "with"
// if the logarithm of the likelihood ratio exceeds half of epsilon, a threshold that
// depends on no fit.
func (a attack) repeated(directions *mat.Dense, origin []float64, moved float64) (finding, error) {
	f := finding{epsilon: 1, delta: 0.1, fits: 2 * a.fits}
	if a.rate > 0 {
		moved *= a.rate // the pilot takes all records in every step
	}
	mu := gaussianMu(f.epsilon, f.delta)
	threshold := moved * (f.epsilon/2/(mu*mu) + 0.5)
	var above, below [2]int // fits without and with the canary
	for side, canaries := range [][]int{nil, {0}} {
		fits, err := a.fit([]string{"without", "with"}[side], canaries, a.fits, a.priced(priceOfOne))
		if err != nil {
			return f, err
		}
		for _, params := range fits {
			switch score := a.scores(directions, origin, params)[0]; {
			case score > threshold:
				above[side]++
			case score < moved-threshold:
				below[side]++
			}
		}
	}
	f.atLeast = max(0, a.bound(above[1], above[0], f.delta), a.bound(below[0], below[1], f.delta))
	return f, nil
}

// bound is the least epsilon that the numbers of true and false alarms allow, at the
// confidence that repeated takes for both bounds. Kairouz, Oh and Viswanath 2015, Theorem
// 2.1.
func (a attack) bound(right, wrong int, delta float64) float64 {
	const each = (1 - confidence) / 4
	hit := stattest.AtLeast(right, a.fits, each)
	return math.Log(max(0, hit-delta) / stattest.AtMost(wrong, a.fits, each))
}

// gaussianMu is the mu for which mu-Gaussian differential privacy is (epsilon,
// delta)-differential privacy. Dong, Roth and Su 2022, Corollary 1.
func gaussianMu(epsilon, delta float64) float64 {
	low, high := 0.0, 100.0
	for range 100 {
		mu := (low + high) / 2
		if distuv.UnitNormal.CDF(-epsilon/mu+mu/2)-math.Exp(epsilon)*distuv.UnitNormal.CDF(-epsilon/mu-mu/2) < delta {
			low = mu
		} else {
			high = mu
		}
	}
	return low
}

// guessed is the share of the canaries whose coins are guessed: half of them as in the
// table, half as absent.
const guessed = 0.1

// oneRun audits fits whose tables each hold about half of many canaries. Fits with separate
// coins are together one mechanism on all coins.
func (a attack) oneRun(directions *mat.Dense, origin []float64) (finding, error) {
	f := finding{epsilon: 8, delta: 1e-6, fits: a.runs}
	rng := rand.New(rand.NewPCG(a.seed, 77))
	type coin struct {
		score float64
		in    bool
	}
	var coins []coin
	for r := range a.runs {
		in := make([]bool, len(a.canaries))
		var table []int
		for i := range in {
			if in[i] = rng.IntN(2) == 1; in[i] {
				table = append(table, i)
			}
		}
		fits, err := a.fit("run-"+strconv.Itoa(r), table, 1, a.priced(priceOfMany))
		if err != nil {
			return f, err
		}
		for i, score := range a.scores(directions, origin, fits[0]) {
			coins = append(coins, coin{score, in[i]})
		}
	}
	slices.SortFunc(coins, func(a, b coin) int {
		if a.score < b.score {
			return -1
		}
		return 1
	})
	half, right := int(guessed*float64(len(coins))/2), 0
	for i := range half {
		if !coins[i].in {
			right++
		}
		if coins[len(coins)-1-i].in {
			right++
		}
	}
	f.atLeast = lowerBound(len(coins), 2*half, right, f.delta, confidence)
	return f, nil
}

// priced are the arguments of a fit at a price. With less noise than certified, they are
// the settings of a more expensive fit that claims the smaller price.
func (a attack) priced(price []string) []string {
	if a.noise == 1 {
		return slices.Concat(a.args, price)
	}
	return append(slices.Clone(a.args), "--epsilon=2000", price[1], "--noise-multiplier="+a.reduced(price))
}

// scores estimates the component of a fit's movement along each canary's direction, by
// least squares over all canaries.
func (a attack) scores(directions *mat.Dense, origin, params []float64) []float64 {
	moved := mat.NewVecDense(len(origin), slices.Clone(params))
	moved.SubVec(moved, mat.NewVecDense(len(origin), origin))
	m := len(a.canaries)
	var projected mat.VecDense
	projected.MulVec(directions, moved)
	gram := mat.NewSymDense(m, nil)
	gram.SymOuterK(1, directions)
	const ridge = 1e-3 // canaries that are nearly alike share their evidence
	for i := range m {
		gram.SetSym(i, i, gram.At(i, i)+ridge)
	}
	var c mat.Cholesky
	out := mat.NewVecDense(m, nil)
	if !c.Factorize(gram) || c.SolveVecTo(out, &projected) != nil {
		panic("audit: a Gram matrix with a ridge is not positive definite")
	}
	return out.RawVector().Data
}

// fit fits the table of the base and some canaries n times, and returns the
// released parameters of each fit.
func (a attack) fit(name string, canaries []int, n int, args []string) ([][]float64, error) {
	rows := append([]string{a.header}, a.base...)
	for _, i := range canaries {
		rows = append(rows, a.canaries[i]...)
	}
	data := filepath.Join(a.dir, name+".csv")
	if err := os.WriteFile(data, []byte(strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	return a.released(name, data, n, args)
}
