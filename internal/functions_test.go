package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// No function outside tests has more than 60 lines. The rows of a table, a literal of a
// slice or map, do not count.
func TestFunctionsAreShort(t *testing.T) {
	const most = 60
	functions := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		lines := func(n ast.Node) int { return files.Position(n.End()).Line - files.Position(n.Pos()).Line }
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			functions++
			length := lines(f) + 1
			ast.Inspect(f, func(n ast.Node) bool {
				table, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				switch table.Type.(type) {
				case *ast.ArrayType, *ast.MapType:
					length -= lines(table)
					return false
				}
				return true
			})
			if length > most {
				t.Errorf("%s: %s has %d lines, at most %d are allowed", files.Position(f.Pos()), f.Name.Name, length, most)
			}
		}
		return nil
	})
	if err != nil || functions < 1000 {
		t.Fatalf("found %d functions: %v", functions, err)
	}
}
