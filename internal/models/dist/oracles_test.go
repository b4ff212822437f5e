package dist

import (
	"d3p/internal/models/support"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// oracles holds one density for every line of Table. at are the numbers of x.
var oracles = map[string]func(o oracle, a map[string][]node, x []node, at []float64) node{
	"adjacent_logistic": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		weights := []node{o.c(1)}
		for k, c := range a["cutpoints"] {
			weights = append(weights, o.mul(weights[k], o.exp(o.sub(a["eta"][0], c))))
		}
		return o.log(o.div(weights[int(at[0])], o.add(weights...)))
	},
	"bernoulli": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		p := o.success(a)
		if at[0] == 1 {
			return o.log(p)
		}
		return o.log(o.sub(o.c(1), p))
	},
	"beta": func(o oracle, a map[string][]node, x []node, _ []float64) node { return o.beta(a, x[0]) },
	"beta_binomial": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		n, p, q := a["trials"][0], a["alpha"][0], a["beta"][0]
		failures := o.sub(n, x[0])
		beta := func(p, q node) node { return o.sub(o.add(o.lgamma(p), o.lgamma(q)), o.lgamma(o.add(p, q))) }
		return o.add(o.lgamma(o.plus(1, n)), o.times(-1, o.lgamma(o.plus(1, x[0]))), o.times(-1, o.lgamma(o.plus(1, failures))),
			beta(o.add(x[0], p), o.add(failures, q)), o.times(-1, beta(p, q)))
	},
	"binomial": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		p, n := o.success(a), a["trials"][0]
		failures := o.sub(n, x[0])
		return o.add(o.lgamma(o.plus(1, n)), o.times(-1, o.lgamma(o.plus(1, x[0]))), o.times(-1, o.lgamma(o.plus(1, failures))),
			o.mul(x[0], o.log(p)), o.mul(failures, o.log(o.sub(o.c(1), p))))
	},
	"categorical": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		return o.log(o.levels(a)[int(at[0])])
	},
	"cauchy": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.cauchy(x[0], a["loc"][0], a["scale"][0])
	},
	"dirichlet": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		c := slices.Clone(a["concentration"])
		for len(c) < len(x) {
			c = append(c, c[0])
		}
		s := o.lgamma(o.add(c...))
		for k := range x {
			s = o.add(s, o.times(-1, o.lgamma(c[k])), o.mul(o.plus(-1, c[k]), o.log(x[k])))
		}
		return s
	},
	"exponential": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.sub(o.log(a["rate"][0]), o.mul(a["rate"][0], x[0]))
	},
	"gamma": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.gammaDensity(x[0], a["shape"][0], a["rate"][0])
	},
	"gompertz": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		rate, growth := o.positive(a, "rate", "log_rate"), o.mul(a["shape"][0], x[0])
		return o.sub(o.add(o.log(rate), growth), o.div(o.mul(rate, o.plus(-1, o.exp(growth))), a["shape"][0]))
	},
	"half_cauchy": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.plus(math.Ln2, o.cauchy(x[0], o.c(0), a["scale"][0]))
	},
	"half_normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.plus(math.Ln2, o.normal(x[0], o.c(0), a["scale"][0]))
	},
	"half_student_t": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.plus(math.Ln2, o.student(x[0], a["df"][0], o.c(0), a["scale"][0]))
	},
	"horseshoe": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		// One vector over the nodes; scalars broadcast.
		var lambda, weight []float64
		for t := -16.0; t <= 16; t += 0.25 {
			lambda = append(lambda, math.Exp(t))
			weight = append(weight, 0.25/math.Pi/math.Cosh(t))
		}
		constant := func(v []float64) node {
			return G.NewConstant(tensor.New(tensor.WithShape(len(v)), tensor.WithBacking(v)))
		}
		local := o.mul(a["scale"][0], constant(lambda))
		scale := o.div(local, o.exp(o.times(0.5, o.log(o.plus(1, o.square(o.div(local, a["slab"][0])))))))
		s := o.must(G.Sum(o.mul(constant(weight), o.exp(o.normal(x[0], o.c(0), scale)))))
		return o.log(s)
	},
	"hurdle_negative_binomial": func(o oracle, a map[string][]node, x []node, at []float64) node {
		return o.hurdle(a, at[0], o.negativeBinomial(a, x[0]), o.negativeBinomial(a, o.times(0, x[0])))
	},
	"hurdle_poisson": func(o oracle, a map[string][]node, x []node, at []float64) node {
		return o.hurdle(a, at[0], o.poisson(a, x[0]), o.poisson(a, o.times(0, x[0])))
	},
	"inverse_gamma": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		// The density of y = 1/x, and dy/dx = 1/x².
		return o.sub(o.gammaDensity(o.div(o.c(1), x[0]), a["shape"][0], a["scale"][0]), o.times(2, o.log(x[0])))
	},
	"inverse_gaussian": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		mean, shape := a["mean"][0], a["shape"][0]
		off := o.div(o.square(o.sub(x[0], mean)), o.mul(o.square(mean), x[0]))
		return o.add(o.times(0.5, o.log(shape)), o.times(-1.5, o.log(x[0])), o.c(-0.5*math.Log(2*math.Pi)), o.times(-0.5, o.mul(shape, off)))
	},
	"laplace": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		z := o.div(o.sub(x[0], a["loc"][0]), a["scale"][0])
		return o.times(-1, o.add(o.must(G.Abs(z)), o.log(o.times(2, a["scale"][0]))))
	},
	"lkj_cholesky": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		d, eta := support.Side(len(x)), a["concentration"][0]
		s := o.times(0, eta)
		for k := 1; k < d; k++ {
			// A beta(b, b) on (-1, 1) for each partial correlation of tree k.
			b := o.plus(0.5*float64(d-1-k), eta)
			logBeta := o.sub(o.times(2, o.lgamma(b)), o.lgamma(o.times(2, b)))
			width := o.times(math.Ln2, o.plus(-1, o.times(2, b)))
			s = o.sub(s, o.times(float64(d-k), o.add(width, logBeta)))
			s = o.add(s, o.mul(o.plus(float64(d-k-3), o.times(2, eta)), o.log(x[k*d+k])))
		}
		return s
	},
	"log_logistic": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		k := a["shape"][0]
		z := o.mul(k, o.log(o.div(x[0], o.positive(a, "scale", "log_scale"))))
		return o.add(o.log(k), z, o.times(-1, o.log(x[0])), o.times(-2, o.log(o.plus(1, o.exp(z)))))
	},
	"log_normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		l := o.log(x[0])
		return o.sub(o.normal(l, a["loc"][0], a["scale"][0]), l)
	},
	"multinomial": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		s := o.lgamma(o.plus(1, a["trials"][0]))
		for k, p := range o.levels(a) {
			s = o.add(s, o.mul(x[k], o.log(p)), o.times(-1, o.lgamma(o.plus(1, x[k]))))
		}
		return s
	},
	"mvn": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		L := a["cholesky"]
		z0 := o.div(o.sub(x[0], a["loc"][0]), L[0])
		z1 := o.div(o.sub(o.sub(x[1], a["loc"][len(a["loc"])-1]), o.mul(L[2], z0)), L[3])
		return o.plus(-math.Log(2*math.Pi), o.sub(o.times(-0.5, o.add(o.square(z0), o.square(z1))), o.log(o.mul(L[0], L[3]))))
	},
	"negative_binomial": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.negativeBinomial(a, x[0])
	},
	"normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.normal(x[0], a["loc"][0], a["scale"][0])
	},
	"ordered_cloglog": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		return o.ordered(a, at[0], func(z node) node { return o.sub(o.c(1), o.exp(o.times(-1, o.exp(z)))) })
	},
	"ordered_logistic": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		return o.ordered(a, at[0], o.sigmoid)
	},
	"ordered_probit": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		return o.ordered(a, at[0], o.normalCDF)
	},
	"ordered_normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		var s []node
		for _, v := range x {
			s = append(s, o.normal(v, a["loc"][0], a["scale"][0]))
		}
		return o.add(s...)
	},
	"piecewise_exponential": func(o oracle, a map[string][]node, x []node, at []float64) node {
		hazard, total, start, open := o.times(0, x[0]), o.times(0, x[0]), o.times(0, x[0]), true
		for j, l := range a["log_hazard"] {
			last := j == len(a["cuts"]) || at[0] <= a["cuts"][j].Value().Data().(float64)
			end := x[0]
			if !last {
				end = a["cuts"][j]
			}
			if !open {
				continue
			}
			total = o.add(total, o.mul(o.exp(l), o.sub(end, start)))
			if last {
				hazard, open = l, false
			}
			start = end
		}
		return o.sub(hazard, total)
	},
	"poisson": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.poisson(a, x[0])
	},
	"sequential_logistic": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		cuts, level := a["cutpoints"], int(at[0])
		p := o.c(1)
		for _, c := range cuts[:level] {
			p = o.mul(p, o.sigmoid(o.sub(a["eta"][0], c)))
		}
		if level < len(cuts) {
			p = o.mul(p, o.sigmoid(o.sub(cuts[level], a["eta"][0])))
		}
		return o.log(p)
	},
	"skew_normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		z := o.div(o.sub(x[0], a["loc"][0]), a["scale"][0])
		return o.add(o.c(math.Ln2), o.normal(x[0], a["loc"][0], a["scale"][0]), o.log(o.normalCDF(o.mul(a["alpha"][0], z))))
	},
	"student_t": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.student(x[0], a["df"][0], a["loc"][0], a["scale"][0])
	},
	"uniform": func(o oracle, a map[string][]node, _ []node, _ []float64) node {
		return o.times(-1, o.log(o.sub(a["upper"][0], a["lower"][0])))
	},
	"weibull": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		z := o.log(o.div(x[0], o.positive(a, "scale", "log_scale")))
		k := a["shape"][0]
		return o.sub(o.sub(o.add(o.log(k), o.mul(k, z)), o.log(x[0])), o.exp(o.mul(k, z)))
	},
	"zero_inflated_negative_binomial": func(o oracle, a map[string][]node, x []node, at []float64) node {
		return o.zeroInflated(a, at[0], o.negativeBinomial(a, x[0]))
	},
	"zero_inflated_poisson": func(o oracle, a map[string][]node, x []node, at []float64) node {
		return o.zeroInflated(a, at[0], o.poisson(a, x[0]))
	},
	"zero_one_inflated_beta": func(o oracle, a map[string][]node, x []node, at []float64) node {
		zoi, coi := a["zoi"][0], a["coi"][0]
		switch at[0] {
		case 0:
			return o.add(o.log(zoi), o.log(o.sub(o.c(1), coi)))
		case 1:
			return o.add(o.log(zoi), o.log(coi))
		}
		return o.add(o.log(o.sub(o.c(1), zoi)), o.beta(a, x[0]))
	},
}

// beta is the log density of a beta distribution by its shapes, or by mean and kappa.
func (o oracle) beta(a map[string][]node, x node) node {
	var p, q node
	if m, ok := a["mean"]; ok {
		p = o.mul(m[0], a["kappa"][0])
		q = o.mul(o.sub(o.c(1), m[0]), a["kappa"][0])
	} else {
		p, q = a["alpha"][0], a["beta"][0]
	}
	return o.add(o.lgamma(o.add(p, q)), o.times(-1, o.lgamma(p)), o.times(-1, o.lgamma(q)),
		o.mul(o.plus(-1, p), o.log(x)), o.mul(o.plus(-1, q), o.log(o.sub(o.c(1), x))))
}
