package main

import (
	"go/ast"
	numeric "go/constant"
	"go/parser"
	"go/token"
	"go/types"
)

// coefficients are the constants and tables of package simd by name, read from its
// source, so that each is written once. A constant is a table of one.
var coefficients = readCoefficients("../coefficients.go")

func readCoefficients(path string) map[string][]float64 {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		panic(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := new(types.Config).Check("simd", files, []*ast.File{file}, info); err != nil {
		panic(err)
	}
	all := map[string][]float64{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			numbers := []ast.Expr{spec.Values[i]}
			if table, ok := spec.Values[i].(*ast.CompositeLit); ok {
				numbers = table.Elts
			}
			for _, x := range numbers {
				v, _ := numeric.Float64Val(info.Types[x].Value)
				all[name.Name] = append(all[name.Name], v)
			}
		}
		return false
	})
	return all
}

// values are a table of package simd.
func values(name string) []float64 {
	t := coefficients[name]
	if len(t) == 0 {
		panic(name + " is not in coefficients.go")
	}
	return t
}

// number is a constant of package simd.
func number(name string) float64 { return values(name)[0] }
