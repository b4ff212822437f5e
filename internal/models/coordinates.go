package models

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/naming"
)

// Coordinates are whitened coordinates φ (P) of a fit, in which linear predictors have columns
// of mean 0, variance 1 and no correlation. They stand for the unconstrained
// parameters θ (P) by u = Origin + Unit∘φ and, for each LinearPredictor predictor with
// design x (K), coefficients b and level Intercept,
//
//	b = Matrix·u_b,  Intercept = u_Intercept − Center·b,
//
// so that Intercept + x·b = u_Intercept + x′·u_b with the columns x′ = Matrixᵀ(x − Center).
// All other parameters are u. The density of a record stays the same, and the prior stays a
// prior of θ.
type Coordinates struct {
	Origin     []float64  `json:"origin"` // (P)
	Unit       []float64  `json:"unit"`   // (P)
	Predictors []Rotation `json:"predictors"`
}

// Rotation rotates the linear predictor whose coefficients have the name Coefficients.
type Rotation struct {
	Coefficients string    `json:"coefficients"`
	Center       []float64 `json:"center"` // (K)
	Matrix       []float64 `json:"matrix"` // (K×K), row-major
}

// In is the same model in the whitened coordinates c: all its tapes and samplers take φ in
// place of θ.
func (m *Model) In(c *Coordinates) (*Model, error) { return compileIn(m.Spec, c) }

// Declared sets dst (P) to the θ of phi (P). Without whitened coordinates both are the same.
// dst may be phi.
func (m *Model) Declared(dst, phi []float64) {
	copy(dst, phi)
	c := m.coordinates
	if c == nil {
		return
	}
	for j := range dst[:m.P] {
		dst[j] = c.Origin[j] + c.Unit[j]*dst[j]
	}
	m.rotate(dst)
}

// DeclaredDirection sets dst (P) to the change of θ with the change phi (P).
func (m *Model) DeclaredDirection(dst, phi []float64) {
	copy(dst, phi)
	c := m.coordinates
	if c == nil {
		return
	}
	for j := range dst[:m.P] {
		dst[j] *= c.Unit[j]
	}
	m.rotate(dst)
}

// Coordinates are the whitened coordinates of m; nil: the declared ones.
func (m *Model) Coordinates() *Coordinates { return m.coordinates }

// Rotated reports whether m is in whitened coordinates.
func (m *Model) Rotated() bool { return m.coordinates != nil }

// WithoutSlopes is the φ (P) at which a fit in whitened coordinates starts, with
// coefficients 0.
func (m *Model) WithoutSlopes() []float64 {
	phi := make([]float64, m.P)
	for i := range m.coordinates.Predictors {
		p := m.predictor(m.coordinates.Predictors[i].Coefficients).Coefficients
		for j := p.Offset; j < p.Offset+p.Size; j++ {
			phi[j] = -m.coordinates.Origin[j] / m.coordinates.Unit[j]
		}
	}
	return phi
}

// rotate turns u into θ in place.
func (m *Model) rotate(u []float64) {
	for i := range m.coordinates.Predictors {
		r := &m.coordinates.Predictors[i]
		p := m.predictor(r.Coefficients)
		k := len(r.Center)
		b := make([]float64, k)
		for e := range p.Effects {
			for i := range b {
				b[i] = 0
				for j := range k {
					b[i] += r.Matrix[i*k+j] * u[p.At(j, e)]
				}
			}
			shift := 0.0
			for i, x := range b {
				u[p.At(i, e)] = x
				shift += r.Center[i] * x
			}
			p.Shift(u, e, -shift)
		}
	}
}

// FromDeclared sets dst (P) to the φ of theta (P), the inverse of Declared.
func (m *Model) FromDeclared(dst, theta []float64) {
	copy(dst, theta)
	c := m.coordinates
	if c == nil {
		return
	}
	for i := range c.Predictors {
		r := &c.Predictors[i]
		p := m.predictor(r.Coefficients)
		k := len(r.Center)
		matrix, solved := mat.NewDense(k, k, r.Matrix), mat.NewVecDense(k, nil)
		b := make([]float64, k)
		for e := range p.Effects {
			shift := 0.0
			for i := range b {
				b[i] = dst[p.At(i, e)]
				shift += r.Center[i] * b[i]
			}
			p.Shift(dst, e, shift)
			if err := solved.SolveVec(matrix, mat.NewVecDense(k, b)); err != nil {
				panic("models: the matrix of " + r.Coefficients + " has no inverse")
			}
			for i := range k {
				dst[p.At(i, e)] = solved.AtVec(i)
			}
		}
	}
	for j := range dst[:m.P] {
		dst[j] = (dst[j] - c.Origin[j]) / c.Unit[j]
	}
}

// LinearPredictor has the places of a linear predictor's numbers.
type LinearPredictor struct {
	Dim          string // columns of its design
	Coefficients *Param // by column of the design, then by effect
	Effects      int
	Level        *Param // name of its level, which a shift of the centre moves; nil: none
	Cuts         bool   // the level is the cuts of an ordinal response
}

// At is the place in θ of coefficient j of effect e.
func (p LinearPredictor) At(j, e int) int { return p.Coefficients.Offset + j*p.Effects + e }

// Shift adds by to the level of effect e, from its coordinates.
func (p LinearPredictor) Shift(u []float64, e int, by float64) {
	switch {
	case p.Level == nil:
	case p.Cuts:
		u[p.Level.Offset] -= by
	case p.Effects > 1:
		u[p.Level.Offset+e] += by
	default:
		for j := range p.Level.Size {
			u[p.Level.Offset+j] += by
		}
	}
}

// linearPredictors are the linear predictors that can be rotated: their designs consist of
// single numbers, and their coefficients and levels have no bounds.
func linearPredictors(core *core.Core, params []Param) []LinearPredictor {
	var list []LinearPredictor
	for _, p := range core.Predictors {
		l := LinearPredictor{Dim: p.Dim, Cuts: p.Cuts}
		for i := range params {
			switch params[i].Name {
			case p.Coefficients:
				l.Coefficients = &params[i]
			case p.Level:
				l.Level = &params[i]
			}
		}
		if l.Coefficients == nil || l.Coefficients.Transform.Name != "identity" || len(l.Coefficients.Dims) == 0 {
			continue
		}
		if l.Level != nil && l.Level.Transform.Name != "identity" && !(p.Cuts && l.Level.Transform.Name == "ordered") {
			continue
		}
		l.Effects = l.Coefficients.Size / len(l.Coefficients.Dims[0].Labels)
		list = append(list, l)
	}
	return list
}

// LinearPredictors are the linear predictors that can be rotated.
func (m *Model) LinearPredictors() []LinearPredictor { return linearPredictors(m.Core, m.Params) }

// predictor is the linear predictor with these coefficients.
func (m *Model) predictor(coefficients string) LinearPredictor {
	for _, l := range m.LinearPredictors() {
		if l.Coefficients.Name == coefficients {
			return l
		}
	}
	panic("models: no linear predictor of " + coefficients)
}

// work is u in a graph: the leaves in the units of the parameters.
func (g *build) work(p *Param, leaf *graph.Node) *graph.Node {
	c := g.c.coordinates
	if c == nil {
		return leaf
	}
	origin, unit := c.Origin[p.Offset:p.Offset+p.Size], c.Unit[p.Offset:p.Offset+p.Size]
	if slices.ContainsFunc(unit, func(x float64) bool { return x != 1 }) {
		leaf = g.b.Mul(g.b.Consts(leaf.Shape(), unit), leaf)
	}
	if slices.ContainsFunc(origin, func(x float64) bool { return x != 0 }) {
		leaf = g.b.Add(g.b.Consts(leaf.Shape(), origin), leaf)
	}
	return leaf
}

// rotation gives coefficients and levels their unconstrained declared values, in u by
// parameter. It stores their coordinates for the rows block.
func (g *build) rotation(u map[string]*graph.Node) {
	c := g.c.coordinates
	if c == nil {
		return
	}
	g.inRows = make(map[string]*graph.Node)
	for i := range c.Predictors {
		r := &c.Predictors[i]
		for _, p := range linearPredictors(g.c.core, g.c.params) {
			if p.Coefficients.Name != r.Coefficients {
				continue
			}
			work := u[r.Coefficients]
			g.inRows[r.Coefficients] = work
			dim := work.Shape()[0]
			b := g.b.Rename(g.b.MatMul(g.matrix(r, dim, false), work), rotated, dim.Name)
			u[r.Coefficients] = b
			if p.Level == nil {
				continue
			}
			level := u[p.Level.Name]
			g.inRows[p.Level.Name] = level
			shift := g.b.MatMul(g.b.Consts(graph.Shape{dim}, r.Center), b)
			if p.Cuts {
				s := level.Shape()
				shift = g.b.Neg(g.b.Where(g.b.OneHot(g.b.Const(0), s[len(s)-1]), shift, g.b.Const(0)))
			}
			u[p.Level.Name] = g.b.Sub(level, shift)
		}
	}
}

// rotated names the rows of a rotation's matrix; it clashes with no name of the language.
const rotated = "(rotated)"

// matrix is the matrix of r, from rows called rotated to columns along dim. Transposed it
// maps a design to the whitened columns.
func (g *build) matrix(r *Rotation, dim graph.Dim, transpose bool) *graph.Node {
	values := r.Matrix
	if transpose {
		k := dim.Size
		values = make([]float64, k*k)
		for i := range k {
			for j := range k {
				values[j*k+i] = r.Matrix[i*k+j]
			}
		}
	}
	return g.b.Consts(graph.Shape{{Name: rotated, Size: dim.Size}, dim}, values)
}

// rotateRows replaces, in the rows block, designs by the whitened columns, and the
// parameters of linear predictors by the whitened coordinates.
func (g *build) rotateRows() {
	c := g.c.coordinates
	if c == nil {
		return
	}
	for i := range c.Predictors {
		r := &c.Predictors[i]
		for _, p := range linearPredictors(g.c.core, g.c.params) {
			x := g.env.Design[p.Dim]
			if p.Coefficients.Name != r.Coefficients || x == nil {
				continue
			}
			dim := x.Shape()[0]
			centred := g.b.Sub(x, g.b.Consts(x.Shape(), r.Center))
			g.env.Design[p.Dim] = g.b.Rename(g.b.MatMul(g.matrix(r, dim, true), centred), rotated, dim.Name)
			g.env.Values[r.Coefficients] = expr.Value{Node: g.inRows[r.Coefficients]}
			if p.Level != nil {
				value, _ := p.Level.Transform.Apply(g.b, g.inRows[p.Level.Name], g.shapeOf(p.Level.Name))
				g.env.Values[p.Level.Name] = expr.Value{Node: value}
			}
		}
	}
}

// shapeOf is the shape of a parameter's values.
func (g *build) shapeOf(name string) graph.Shape {
	for i := range g.c.params {
		if g.c.params[i].Name == name {
			return g.c.priors[i].shape
		}
	}
	panic("models: no parameter " + name)
}

// DesignTape computes the designs of the linear predictors, and last the response of a
// model with one and the linear predictor of a formula with offsets, from rows in the
// likelihood's form. Where all parameters are 0 that predictor is the sum of the offsets.
func (m *Model) DesignTape() *graph.Tape {
	c := newCompiler(m.Spec, m.Core)
	c.dimensions()
	c.parameters()
	g := c.build()
	g.rows()
	for _, l := range m.LinearPredictors() {
		g.outputs = append(g.outputs, g.env.Design[l.Dim])
	}
	if len(m.Core.Observe) == 1 {
		if density := g.density(m.Core.Observe[0]); density != nil {
			if _, x := g.observed(m.Core.Observe[0], density); x.X != nil && x.X.Size() == 1 {
				g.outputs = append(g.outputs, x.X)
				if f := m.Spec.Model; f != nil && len(f.Terms.Offsets) > 0 {
					g.outputs = append(g.outputs, g.env.Values[naming.Predictor].Node)
				}
			}
		}
	}
	tape, err := graph.Compile(g.b, nil, g.outputs, graph.Options{Columns: m.Encoding.K})
	if err != nil {
		panic("models: a compiled model does not compile: " + err.Error())
	}
	return tape
}

// RotatedSpare is about the number of derived columns of m in whitened coordinates.
func (m *Model) RotatedSpare() int {
	spare := m.Likelihood.K - m.Likelihood.K0
	if inStep(m.Spec) {
		return spare
	}
	for _, l := range m.LinearPredictors() {
		spare += len(l.Coefficients.Dims[0].Labels) * max(1, m.Encoding.RowsPerUnit)
	}
	return spare
}

// Amplify sets dst (P) to the parameters whose linear predictors, levels included, are factor
// times those of phi (P). dst may be phi.
func (m *Model) Amplify(dst, phi []float64, factor float64) {
	m.Declared(dst, phi)
	for _, l := range m.LinearPredictors() {
		c := l.Coefficients
		for j := c.Offset; j < c.Offset+c.Size; j++ {
			dst[j] *= factor
		}
		if l.Level == nil {
			continue
		}
		for j := range l.Level.Size {
			if at := l.Level.Offset + j; l.Cuts && j > 0 {
				dst[at] += math.Log(factor) // a gap
			} else {
				dst[at] *= factor
			}
		}
	}
	m.FromDeclared(dst, dst)
}
