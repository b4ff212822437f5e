// Package expr is the expression language of model files: scanner, Pratt
// parser, syntax tree, canonical printing, and lowering to graph nodes.
//
// The language is pure and total: no statements, no loops, no I/O. A source
// text becomes a tree (Parse), the tree prints back to one canonical text
// (String, with Parse(String(x)) = x), and a tree becomes nodes of the density
// graph (Lower) or a density with its arguments (LowerDensity). Every mistake
// carries file, line and column, and all mistakes of a text are reported at
// once.
//
//	x + 2 * y            arithmetic: + - * / ^, and @ for matrix products
//	age >= 18 and smoker == 'never'
//	exp(eta), clip(x, 0, 1), mean(u, over=hospital)
//	u[hospital, 'Intercept']
//	normal(0, 1) [k, d]  a prior with its dims
package expr
