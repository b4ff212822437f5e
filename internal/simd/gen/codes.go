package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// equal is the predicate a = b.
const equal predicate = 0x00 // EQ_OQ

// elementwiseCode is a code whose operands are vectors (v) or scalars (s), as in kinds.
// into, which may be nil, is the destination's old value.
func elementwiseCode(name, doc, kinds string, old bool, op func(i isa, into VecVirtual, x []VecVirtual) VecVirtual) code {
	return code{name, doc, func(i isa) {
		pointers := []GPPhysical{vectors(0)}
		x := make([]VecVirtual, len(kinds))
		for k, kind := range kinds {
			if kind == 's' {
				x[k] = i.spread(Mem{Base: space(k + 1), Index: R12, Scale: 8})
				pointers = append(pointers, nil)
			} else {
				pointers = append(pointers, vectors(k+1))
			}
		}
		var moving []GPPhysical
		place := map[int]int{}
		for k, p := range pointers {
			if p != nil {
				place[k] = len(moving)
				moving = append(moving, p)
			}
		}
		over(i, moving, func(i isa, at func(k int) Mem) {
			var into VecVirtual
			if old {
				into = i.load(at(0))
			}
			args := make([]VecVirtual, len(kinds))
			for k, kind := range kinds {
				if args[k] = x[k]; kind == 'v' {
					args[k] = i.load(at(place[k+1]))
				}
			}
			i.store(op(i, into, args), at(0))
		})
	}}
}

// codes lists the codes.
func codes() []code {
	one := func(name, doc string, f func(i isa, x VecVirtual) VecVirtual) code {
		return elementwiseCode(name, "to = "+doc, "v", false, func(i isa, _ VecVirtual, x []VecVirtual) VecVirtual { return f(i, x[0]) })
	}
	two := func(name, doc, kinds string, f func(i isa, a, b VecVirtual) VecVirtual) code {
		return elementwiseCode(name, "to = "+doc, kinds, false, func(i isa, _ VecVirtual, x []VecVirtual) VecVirtual { return f(i, x[0], x[1]) })
	}
	swapped := func(f func(i isa, a, b VecVirtual) VecVirtual) func(i isa, a, b VecVirtual) VecVirtual {
		return func(i isa, a, b VecVirtual) VecVirtual { return f(i, b, a) }
	}
	return []code{
		{"stop", "The end of a program.", func(isa) { end() }},
		elementwiseCode("fill", "to = s", "s", false, func(_ isa, _ VecVirtual, x []VecVirtual) VecVirtual { return x[0] }),
		one("copy", "a", func(_ isa, x VecVirtual) VecVirtual { return x }),
		one("neg", "-a", negative),
		one("square", "a²", func(i isa, x VecVirtual) VecVirtual { return i.mul(x, x) }),
		one("reciprocal", "1/a", func(i isa, x VecVirtual) VecVirtual { return i.div(c(i, 1), x) }),
		one("sqrt", "√a", isa.sqrt),
		one("exp", "exp(a)", expKernel),
		one("log", "log(a)", logKernel),
		one("sigmoid", "1/(1+exp(-a))", sigmoidKernel),
		one("softplus", "log(1+exp(a))", softplusKernel),
		one("expm1", "exp(a)-1", expm1Kernel),
		one("log1p", "log(1+a)", log1pKernel),
		one("logSigmoid", "-log(1+exp(-a))", logSigmoidKernel),
		one("tanh", "tanh(a)", tanhKernel),
		one("erf", "erf(a)", erfKernel),
		one("normalCDF", "Φ(a)", normalCDFKernel),
		one("logNormalCDF", "log Φ(a)", logNormalCDFKernel),
		one("gelu", "a·Φ(a)", geluKernel),
		one("abs", "|a|", absolute),
		two("add", "a + b", "vv", isa.add),
		two("sub", "a - b", "vv", isa.sub),
		two("mul", "a·b", "vv", isa.mul),
		two("div", "a/b", "vv", isa.div),
		two("max", "max(a, b)", "vv", maxKernel),
		two("min", "min(a, b)", "vv", minKernel),
		two("mulZero", "a·b, but 0 where a is 0", "vv", func(i isa, a, b VecVirtual) VecVirtual {
			return i.pick(equal, a, c(i, 0), c(i, 0), i.mul(a, b))
		}),
		two("less", "1 where a < b, else 0", "vv", indicator(less)),
		two("equal", "1 where a = b, else 0", "vv", indicator(equal)),
		two("addScalar", "a + s", "vs", isa.add),
		two("subScalar", "a - s", "vs", isa.sub),
		two("fromScalar", "s - a", "vs", swapped(isa.sub)),
		two("mulScalar", "a·s", "vs", isa.mul),
		two("divScalar", "a/s", "vs", isa.div),
		two("overScalar", "s/a", "vs", swapped(isa.div)),
		two("maxScalar", "max(a, s)", "vs", maxKernel),
		two("lessScalar", "1 where a < s, else 0", "vs", indicator(less)),
		two("aboveScalar", "1 where s < a, else 0", "vs", swapped(indicator(less))),
		two("equalScalar", "1 where a = s, else 0", "vs", indicator(equal)),
		elementwiseCode("addProduct", "to = fma(a, b, to)", "vv", true, fused),
		elementwiseCode("axpy", "to = fma(a, s, to)", "vs", true, fused),
		elementwiseCode("where", "to = b where a is not 0, else c", "vvv", false, func(i isa, _ VecVirtual, x []VecVirtual) VecVirtual {
			return i.pick(equal, x[0], c(i, 0), x[2], x[1])
		}),
		two("block", "a truncated if -1 < a < s, else -1", "vs", blockKernel),
		elementwiseCode("spoil", "to = NaN where a < 0", "v", true, func(i isa, into VecVirtual, x []VecVirtual) VecVirtual {
			return i.pick(less, x[0], c(i, 0), i.broadcast(nan), into)
		}),
		{"squares", "to += Σ a² over the elements, of the lanes of one element.", squares},
		{"gather", "to[i] = number c·s + i of b, c being a lane of one element; NaN where c < 0.", gather},
		{"dots", "to[k·count + i] = Σ a[i]·b[k] over the lanes, k < more; numbers one after the other.", dots},
		{"scale", "to[i] = a[i]·b, b being one element.", scale},
		{"groupDots", "to[k·count + i] = Σ a[i]·b over the lanes whose block, a lane of c, is k; k < more.", groupDots},
		{"combine", "to = Σ a[i]·b[more·i] over the elements.", combine},
	}
}

// minKernel is maxKernel for the smaller of two: NaN wins.
func minKernel(i isa, a, b VecVirtual) VecVirtual {
	return i.pick(unordered, a, a, a, i.pick(less, a, b, a, b))
}

// indicator is 1 where a predicate holds, else 0.
func indicator(p predicate) func(i isa, a, b VecVirtual) VecVirtual {
	return func(i isa, a, b VecVirtual) VecVirtual { return i.pick(p, a, b, c(i, 1), c(i, 0)) }
}

func fused(i isa, into VecVirtual, x []VecVirtual) VecVirtual {
	i.accumulate(into, x[0], x[1])
	return into
}

func blockKernel(i isa, x, rows VecVirtual) VecVirtual {
	none := c(i, -1)
	return i.pick(less, x, rows, i.pick(less, none, x, truncate(i, x), none), none)
}

// truncate rounds towards zero.
func truncate(i isa, x VecVirtual) VecVirtual {
	const towardsZero = 3
	if i.suffix() == "AVX2" {
		v := YMM()
		VROUNDPD(U8(towardsZero), x, v)
		return v
	}
	v := ZMM()
	VRNDSCALEPD(U8(towardsZero), x, v)
	return v
}
