package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// binaries is the folder of the program that built builds.
var binaries string

// built builds d3p, once for all tests.
var built = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-o", filepath.Join(binaries, "d3p"), "../cmd/d3p").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "d3p-docs-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(binaries)
	os.Exit(code)
}

// program returns the folder with d3p.
func program(t *testing.T) string {
	t.Helper()
	if err := built(); err != nil {
		t.Fatal(err)
	}
	return binaries
}

// page runs the code of a page in one language, followed by more, beside the functions and
// the example's data. It returns what the code prints.
func page(t *testing.T, file, language, interpreter, more string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		code.WriteString(block[1])
	}
	if code.Len() == 0 {
		t.Fatalf("%s has no code in %s", file, language)
	}
	folder := t.TempDir()
	for _, path := range []string{"../datasets/cohort.csv", "guide/d3p.R", "guide/d3p.py"} {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(path)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "page"), []byte(code.String()+more), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(interpreter, "page")
	own := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "D3P_") }) // settings of the tests
	c.Dir, c.Env = folder, append(own, "PATH="+program(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// The code of the page runs, and an error has d3p's message.
func TestFromPython(t *testing.T) {
	const python = "/usr/bin/python3" // of the system, which has the system's packages
	if err := exec.Command(python, "-c", "import pandas, xarray, zarr").Run(); err != nil {
		t.Skip("no python3 with pandas, xarray and zarr (Debian: python3-pandas, python3-xarray, python3-zarr)")
	}
	out := page(t, "guide/from-r-python.md", "python", python, `
import pathlib
assert fit["b"].dims[:2] == ("chain", "draw"), fit["b"].dims
assert (pathlib.Path(fit.attrs["release"]) / "privacy.html").exists()
assert "constant_within: none" in (pathlib.Path(fit.attrs["release"]) / "spec.lock.yaml").read_text()
assert "may have one value" not in fit.attrs["warnings"], fit.attrs["warnings"]
assert 0 < float(fit["b"].sel({fit["b"].dims[2]: "age"}).mean()) < 3
try:
    d3p("died30 ~ 1 + age", visits, epsilon=1, records=4000, columns={"age": (18, 100)})
except RuntimeError as e:
    print("error:", e)
`)
	for _, want := range []string{"(1, ", "differential privacy", "age", "'verdict': '", "error: ", "undeclared column died30"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

func TestFromR(t *testing.T) {
	if err := exec.Command("Rscript", "-e", "library(posterior)").Run(); err != nil {
		t.Skip("no R with the package posterior (Debian: r-base-core, r-cran-posterior)")
	}
	out := page(t, "guide/from-r-python.md", "r", "Rscript", `
stopifnot(inherits(fit, "draws_df"), file.exists(file.path(attr(fit, "release"), "privacy.html")))
stopifnot(any(grepl("constant_within: none", readLines(file.path(attr(fit, "release"), "spec.lock.yaml")))))
stopifnot(mean(fit$"b[age]") > 0, mean(fit$"b[age]") < 3)
wrong <- try(d3p(died30 ~ 1 + age, visits, epsilon = 1, records = 4000, columns = list(age = c(18, 100))), silent = TRUE)
cat("error:", wrong)
fit <- d3p(died30 ~ 1 + (1 | hospital) + age, visits, epsilon = 1, records = 4000, steps = 2,
           columns = list(age = c(18, 100), hospital = sprintf("H%02d", 1:12), died30 = c("0", "1")))
`)
	for _, want := range []string{"b[age]", "b[sex=male]", "warning: without a scale: age", "Claim: (1, ", "Statistics: ", "error:", "undeclared column died30"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
