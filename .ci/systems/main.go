// Systems checks that the module and its tests compile for the given systems and
// processors: `go run ./.ci/systems windows/amd64 linux/arm64`. It parses and type-checks,
// skips the bodies of dependencies and compiles nothing. `go vet` for another system would
// first compile every import, a hundred times the work.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A listed package is the output of `go list -json` for it. A test variant has the test
// files in GoFiles.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	SFiles     []string
	ImportMap  map[string]string // import as written -> ImportPath
	Module     *struct{ Main bool }
	Error      *struct{ Err string }
}

func main() {
	said := map[string]bool{} // a mistake in a file appears once for the package and once for its test
	for _, system := range os.Args[1:] {
		goos, goarch, _ := strings.Cut(system, "/")
		for _, err := range check(goos, goarch) {
			if line := fmt.Sprintf("%s: %v", system, err); !said[line] {
				fmt.Fprintln(os.Stderr, line)
				said[line] = true
			}
		}
	}
	if len(said) > 0 {
		os.Exit(1)
	}
}

// check returns the errors that keep the packages of this module from compiling for a
// system.
func check(goos, goarch string) (wrong []error) {
	sizes := types.SizesFor("gc", goarch)
	if sizes == nil {
		return []error{fmt.Errorf("unknown processor %q (see go tool dist list)", goarch)}
	}
	packages, err := list(goos, goarch)
	if err != nil {
		return []error{err}
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range packages { // imports come before the packages that need them
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // go test writes the latter
			continue
		}
		ours := p.Module != nil && p.Module.Main
		fail := func(err error) {
			if ours {
				wrong = append(wrong, err)
			}
		}
		if p.Error != nil {
			fail(errors.New(p.Error.Err))
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				fail(err)
				continue
			}
			files = append(files, f)
			if ours && len(p.SFiles) == 0 {
				wrong = append(wrong, bodiless(fset, f)...)
			}
		}
		config := types.Config{
			IgnoreFuncBodies: !ours,
			FakeImportC:      true,
			Sizes:            sizes,
			Error:            fail,
			Importer: importer(func(path string) (*types.Package, error) {
				if as, ok := p.ImportMap[path]; ok {
					path = as
				}
				if q := checked[path]; q != nil {
					return q, nil
				}
				return nil, fmt.Errorf("%s is not listed before its import", path)
			}),
		}
		path, _, _ := strings.Cut(p.ImportPath, " ") // without the name of the test
		checked[p.ImportPath], _ = config.Check(path, fset, files, nil)
	}
	return wrong
}

// list returns the packages of the module, their tests and all their imports, each after
// its own imports.
func list(goos, goarch string) (packages []*listed, err error) {
	cmd := exec.Command("go", "list", "-e", "-test", "-deps",
		"-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,Module,Error", "./...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for d := json.NewDecoder(out); ; {
		p := new(listed)
		if err := d.Decode(p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, cmd.Wait()
}

// bodiless returns the functions without a body. Only assembly may have them.
func bodiless(fset *token.FileSet, f *ast.File) (wrong []error) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body == nil {
			wrong = append(wrong, fmt.Errorf("%s: %s has no body, and no assembly is built here", fset.Position(fn.Pos()), fn.Name.Name))
		}
	}
	return wrong
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
