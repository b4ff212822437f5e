package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rule says what one package may import besides the standard library.
type rule struct {
	ours   []string // packages of this module, from internal/ on
	theirs []string // prefixes of other modules' packages
	files  bool     // may use the outside world: files, network, logs, clock
	cgo    bool     // behind a build tag
}

const (
	arrow = "github.com/apache/arrow/go/v15/"
	cpuid = "golang.org/x/sys/cpu"
	group = "golang.org/x/sync/errgroup"
)

// rules is who may import what: models <- privacy <- {cpu, gpu, fit} <- report
// <- run <- cmd. A package that is not here fails the test: give it a line, and think
// about which.
var rules = map[string]rule{
	// leaves
	"spell":    {},
	"decimal":  {},
	"cluster":  {theirs: []string{"github.com/ebitengine/purego"}, files: true},
	"parquet":  {theirs: []string{"github.com/dsnet/compress/brotli", "github.com/golang/snappy", "github.com/klauspost/compress/zstd", "github.com/pierrec/lz4/v4"}},
	"nuts":     {ours: []string{"simd"}, theirs: []string{"gonum.org/v1/gonum/blas", "gonum.org/v1/gonum/blas/blas64", "gonum.org/v1/gonum/mat", "gonum.org/v1/gonum/stat/distuv"}},
	"simd":     {theirs: []string{cpuid}},
	"stats":    {},
	"status":   {ours: []string{"privacy/accountant"}},
	"stattest": {theirs: []string{"gonum.org/v1/gonum/stat/"}},

	// what a setting may be, from the tables of those that own its words
	"settings": {ours: []string{"fit/optimizer", "models/guide", "privacy/event", "privacy/sampler", "privacy/schedule", "spell"}},

	// models: pure mathematics
	"marginals":                {ours: []string{"simd", "stats"}},
	"models/special":           {},
	"models/graph":             {ours: []string{"models/special", "simd"}},
	"models/graph/affine":      {ours: []string{"models/graph"}},
	"models/guide":             {ours: []string{"models/graph", "models/special", "simd"}},
	"models/difference":        {},
	"fit/stepspercall":         {files: true},
	"models/naming":            {},
	"models/support":           {ours: []string{"models/graph"}},
	"models/graph/graphtest":   {ours: []string{"models/graph"}, files: true},
	"models/dist/family":       {ours: []string{"models/graph", "models/support"}},
	"models/dist/continuous":   {ours: []string{"models/dist/family", "models/graph", "models/support"}},
	"models/dist/counts":       {ours: []string{"models/dist/family", "models/graph", "models/support"}},
	"models/dist/categories":   {ours: []string{"models/dist/family", "models/graph", "models/support"}},
	"models/dist/survival":     {ours: []string{"models/dist/family", "models/graph", "models/support"}},
	"models/dist/multivariate": {ours: []string{"models/dist/continuous", "models/dist/family", "models/graph", "models/support"}},
	"models/dist":              {ours: []string{"models/dist/categories", "models/dist/continuous", "models/dist/counts", "models/dist/family", "models/dist/multivariate", "models/dist/survival", "models/graph", "models/special", "models/support"}},
	"models/expr":              {ours: []string{"models/dist", "models/dist/family", "models/graph", "models/support", "spell"}},
	"models/source":            {ours: []string{"models/expr"}},
	"models/data":              {ours: []string{"models/expr", "models/naming", "models/source", "spell"}},
	"models/encoding":          {ours: []string{"models/data", "models/special", "models/source"}},
	"models/core":              {ours: []string{"models/data", "models/expr", "models/source"}},
	"models/formula":           {ours: []string{"models/core", "models/data", "models/expr", "models/naming", "models/source", "spell"}, theirs: []string{"gonum.org/v1/gonum/stat"}},
	"models/twin":              {ours: []string{"models/core", "models/data", "models/dist", "models/expr", "models/source", "models/support", "spell"}},
	"models/skeleton":          {ours: []string{"models/data", "models/source", "models/spec", "spell"}},
	"models/spec":              {ours: []string{"models/core", "models/data", "models/expr", "models/formula", "models/guide", "models/net", "models/source", "models/twin", "safetensors", "settings", "spell"}, theirs: []string{"github.com/goccy/go-yaml/"}},
	"models/spec/spectest":     {ours: []string{"models/expr"}, files: true},
	"models/law":               {ours: []string{"marginals", "models/data", "models/dist", "models/special", "simd", "stats"}, theirs: []string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mat"}},
	"models/net":               {ours: []string{"models/core", "models/expr", "models/graph", "models/source", "models/special", "safetensors", "spell"}},
	"models/modelstest":        {ours: []string{"models"}, files: true},
	"models/predictive":        {ours: []string{"models", "models/dist", "models/graph"}},
	"models/simulate":          {ours: []string{"models", "models/data", "models/dist", "models/encoding", "models/graph", "models/law", "models/predictive", "models/source"}},
	"models/whiten":            {ours: []string{"models", "models/dist", "models/formula", "models/graph", "models/law", "models/naming", "models/simulate", "simd"}, theirs: []string{"gonum.org/v1/gonum/mat", "gonum.org/v1/gonum/stat"}},
	"models":                   {ours: []string{"models/encoding", "models/core", "models/data", "models/dist", "models/dist/family", "models/expr", "models/formula", "models/graph", "models/graph/affine", "models/guide", "models/law", "models/naming", "models/net", "models/source", "models/spec", "models/support", "spell"}, theirs: []string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mat"}},

	// privacy: the only one that sees records
	"privacy/event": {},
	"privacy/accountant": {ours: []string{"privacy/accountant/ballsandbins", "privacy/accountant/bracket", "privacy/accountant/contour", "privacy/accountant/grids",
		"privacy/accountant/numeric", "privacy/accountant/pairs", "privacy/accountant/renyi", "privacy/event"}, files: true},
	"privacy/accountant/numeric":      {},
	"privacy/accountant/pairs":        {ours: []string{"privacy/accountant/numeric"}},
	"privacy/accountant/renyi":        {ours: []string{"privacy/accountant/numeric", "privacy/accountant/pairs"}},
	"privacy/accountant/contour":      {ours: []string{"privacy/accountant/bracket", "privacy/accountant/numeric", "privacy/accountant/pairs"}},
	"privacy/accountant/bracket":      {ours: []string{"privacy/accountant/numeric", "privacy/accountant/pairs"}},
	"privacy/accountant/ballsandbins": {ours: []string{"privacy/accountant/bracket", "privacy/accountant/numeric", "privacy/accountant/pairs"}},
	"privacy/accountant/grids": {ours: []string{"privacy/accountant/bracket", "privacy/accountant/contour", "privacy/accountant/numeric",
		"privacy/accountant/pairs"}},
	"privacy/noise":                      {ours: []string{"simd"}, theirs: []string{cpuid}},
	"privacy/sampler":                    {ours: []string{"privacy/event", "privacy/noise"}, theirs: []string{cpuid}},
	"privacy/internal/records/storage":   {files: true},
	"privacy/internal/records/tablefile": {ours: []string{"models/spec", "safetensors"}, theirs: []string{"golang.org/x/text/encoding"}, files: true},
	"privacy/internal/records":           {ours: []string{"models/data", "models/encoding", "models/spec", "spell", "parquet", "privacy/internal/records/storage", "privacy/internal/records/tablefile", "privacy/noise", "simd"}, theirs: []string{"golang.org/x/text/encoding"}, files: true},
	"privacy/exactdraw":                  {ours: []string{"privacy/noise"}, theirs: []string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mat"}},
	"privacy/clipgroups":                 {ours: []string{"models/graph", "privacy/event"}},
	"privacy/schedule":                   {ours: []string{"privacy/event", "privacy/sampler"}},
	"privacy":                            {ours: []string{"privacy/exactdraw", "privacy/clipgroups", "privacy/schedule", "nuts", "models/simulate", "models/encoding", "models", "models/graph", "privacy/accountant", "privacy/accountant/numeric", "privacy/event", "privacy/internal/records", "privacy/internal/records/storage", "privacy/noise", "privacy/sampler", "atomicfile", "privacy/internal/records/tablefile", "simd"}, files: true},
	"privacy/enginetest":                 {ours: []string{"models/expr", "models/graph", "models/net", "models/spec", "privacy", "privacy/noise", "stattest"}},
	"privacy/sensitivity":                {ours: []string{"safetensors", "privacy/clipgroups", "models/data", "models/whiten", "models/encoding", "models", "models/graph", "privacy", "privacy/enginetest", "privacy/noise"}, files: true},

	"sufficient": {ours: []string{"simd"}, theirs: []string{"gonum.org/v1/gonum/blas/blas64", "gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/lapack/lapack64", "gonum.org/v1/gonum/mat"}},
	"table1":     {ours: []string{"models", "models/core", "models/data", "models/dist", "models/encoding", "models/expr", "models/formula", "models/law", "models/naming", "models/special", "privacy", "privacy/accountant", "privacy/event", "privacy/noise", "stats"}, theirs: []string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mat"}},

	// engines and the fit, which never meet
	"cpu":        {ours: []string{"models/graph", "models/special", "privacy", "privacy/noise", "simd"}},
	"gpu":        {ours: []string{"models/graph", "privacy", "privacy/noise"}, theirs: []string{"github.com/ebitengine/purego", "gorgonia.org/cu"}, cgo: true},
	"gpu/hostcc": {files: true},
	"gpu/ptx":    {},
	"fit": {ours: []string{"fit/stepspercall", "score", "privacy/event", "table1", "fit/optimizer", "fit/plan", "fit/start", "jsonfile", "models", "models/data", "models/formula", "models/graph", "models/guide", "models/law", "nuts", "posterior", "privacy",
		"privacy/noise", "privacy/sampler", "reference", "settings", "simd", "stats", "sufficient"}, theirs: []string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mat"}},
	"fit/plan": {ours: []string{"nuts", "models/data", "models/formula", "models/simulate", "models/whiten", "table1", "fit/optimizer", "fit/start", "marginals", "models", "models/graph", "models/guide", "models/net", "models/law", "models/special", "privacy", "privacy/accountant", "privacy/event", "privacy/noise",
		"privacy/clipgroups", "privacy/sampler", "privacy/schedule", "score", "settings", "simd", "stats", "sufficient"}, theirs: []string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/mat", "gonum.org/v1/gonum/stat"}},
	"fit/optimizer": {ours: []string{"models/graph", "simd"}},
	"fit/start":     {ours: []string{"models", "models/core", "models/dist", "models/expr", "models/formula", "models/naming", "models/support", "settings"}},
	"posterior": {ours: []string{"settings", "models/simulate", "fit/plan", "nuts", "models", "models/dist", "models/formula", "models/graph", "models/guide", "models/law", "privacy/noise", "stats", "simd"},
		theirs: []string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/interp", "gonum.org/v1/gonum/mat", "gonum.org/v1/gonum/stat", "gonum.org/v1/gonum/stat/distuv"}},
	"fit/fittest":     {ours: []string{"fit/plan", "models", "models/graph", "privacy"}},
	"reference":       {ours: []string{"models", "models/graph", "nuts", "privacy", "privacy/noise", "privacy/sampler"}, theirs: []string{group, "gonum.org/v1/gonum/mat"}},
	"predict":         {ours: []string{"models/predictive", "models/encoding", "models", "models/dist", "models/graph", "stats", "privacy/noise"}, theirs: []string{"gonum.org/v1/gonum/floats"}},
	"predict/forward": {ours: []string{"models", "models/data", "models/encoding", "models/graph", "models/net", "onnx", "predict"}},

	"synthesis": {ours: []string{"models/simulate", "marginals", "models", "models/data", "models/dist", "models/law", "privacy", "privacy/event", "simd", "stats"}, theirs: []string{"gonum.org/v1/gonum/mat"}},

	// what is written
	"ledger":        {ours: []string{"privacy", "privacy/accountant", "privacy/event", "atomicfile", "jsonfile", "spell"}, files: true},
	"atomicfile":    {theirs: []string{"golang.org/x/sys/windows"}, files: true},
	"jsonfile":      {},
	"onnx":          {},
	"onnx/onnxtest": {},
	"safetensors":   {ours: []string{"jsonfile"}},
	"signature":     {theirs: []string{"golang.org/x/crypto/ssh", "golang.org/x/term"}, files: true},
	"release":       {ours: []string{"jsonfile", "atomicfile", "spell"}, files: true},
	"report/figure": {theirs: []string{"golang.org/x/image/"}},
	"effects":       {ours: []string{"models", "models/data", "models/dist", "models/law", "predict", "report/figure", "spell"}},
	"outputs": {ours: []string{"export", "fit/plan", "models", "models/data", "models/dist", "models/guide", "models/naming", "models/net", "models/simulate", "nuts", "parquet", "posterior", "release", "safetensors", "score", "settings", "stats"},
		theirs: []string{arrow}, files: true},
	"verdict":           {ours: []string{"fit/plan", "models", "models/data", "models/dist", "models/encoding", "models/formula", "models/law", "models/naming", "models/simulate", "models/support", "outputs", "privacy/noise", "score", "stats", "table1"}, theirs: []string{"gonum.org/v1/gonum/stat"}},
	"report":            {ours: []string{"decimal", "fit/plan", "jsonfile", "models", "models/data", "models/encoding", "models/formula", "models/guide", "models/naming", "models/source", "models/spec", "models/special", "outputs", "posterior", "privacy/accountant", "privacy/clipgroups", "privacy/event", "privacy/sampler", "privacy/schedule", "release", "report/figure", "safetensors", "score", "settings", "stats", "table1", "verdict"}, theirs: []string{"github.com/goccy/go-yaml"}, files: true},
	"report/reporttest": {ours: []string{"fit/plan", "models/guide", "models/modelstest", "outputs", "posterior", "privacy/event", "release", "report"}, files: true},
	"verify": {ours: []string{"score", "settings", "signature", "table1", "fit/plan", "jsonfile", "models", "models/spec", "outputs", "posterior", "privacy", "privacy/accountant", "privacy/event", "privacy/schedule",
		"privacy/sampler", "release", "report"}, theirs: []string{arrow}, files: true},
	"export": {ours: []string{"models/simulate", "models", "models/data"}, theirs: []string{arrow}},
	"score":  {ours: []string{"models/data", "models/encoding", "models", "models/dist", "models/graph", "models/law", "models/predictive", "models/simulate", "predict", "privacy", "privacy/event", "privacy/noise", "settings", "simd", "stats"}, theirs: []string{"gonum.org/v1/gonum/floats", "gonum.org/v1/gonum/stat"}},
	"run": {ours: []string{"atomicfile", "cluster", "fit", "fit/plan", "jsonfile", "ledger", "models", "models/data", "models/guide", "models/spec", "nuts", "outputs", "posterior", "privacy",
		"privacy/accountant", "privacy/event", "privacy/noise", "privacy/sampler", "release", "report", "settings", "signature", "spell", "status", "synthesis", "table1"}, files: true},
	"rehearsal":             {ours: []string{"export", "fit", "fit/plan", "models", "models/dist", "models/graph", "models/simulate", "outputs", "posterior", "privacy", "privacy/noise", "settings", "simd", "stats"}, theirs: []string{group}, files: true},
	"experiments":           {ours: []string{"experiments/attack", "experiments/dpvi2017", "experiments/published", "experiments/tables", "rehearsal", "atomicfile", "settings", "models/simulate", "cpu", "fit", "fit/plan", "posterior", "models", "models/data", "privacy", "privacy/accountant", "privacy/event", "privacy/noise", "privacy/sampler", "export", "report/figure", "score", "stats"}, theirs: []string{group, "gonum.org/v1/gonum/"}, files: true},
	"experiments/attack":    {ours: []string{"cpu", "fit", "fit/plan", "models", "privacy", "privacy/event", "privacy/noise", "settings", "stattest"}, theirs: []string{"gonum.org/v1/gonum/"}, files: true},
	"experiments/dpvi2017":  {ours: []string{"models", "models/graph", "privacy/event", "privacy/noise"}},
	"experiments/published": {ours: []string{"report/figure"}},
	"experiments/tables":    {ours: []string{"models/data", "privacy/noise"}},
	"experiments/audit":     {ours: []string{"cpu", "models", "models/data", "models/encoding", "privacy", "privacy/sensitivity", "stattest"}, theirs: []string{group, "gonum.org/v1/gonum/"}, files: true},
}

// outside are the standard packages of the outside world; a clock is one, so
// that no result depends on it unseen.
var outside = []string{"os", "net", "log", "syscall", "time"}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for path, imports := range sources(t, ".") {
		seen[path] = true
		r, ok := rules[path]
		if !ok {
			t.Errorf("internal/%s: no rule says what it may import", path)
			continue
		}
		for _, name := range imports {
			if why := r.refuses(name); why != "" {
				t.Errorf("internal/%s imports %s: %s", path, name, why)
			}
		}
	}
	if len(seen) < 10 {
		t.Fatalf("only %d packages were found", len(seen))
	}
}

// refuses states why a package may not be imported, or "".
func (r rule) refuses(name string) string {
	switch {
	case name == "math/rand" || name == "math/rand/v2":
		return "random numbers come from privacy/noise or as an argument"
	case name == "C":
		if !r.cgo {
			return "cgo is not used"
		}
	case strings.HasPrefix(name, "d3p/internal/"):
		if !slices.Contains(r.ours, strings.TrimPrefix(name, "d3p/internal/")) {
			return "its line in rules does not have it"
		}
	case strings.HasPrefix(name, "d3p/"):
		return "commands are on top"
	case strings.Contains(strings.Split(name, "/")[0], "."):
		if !slices.ContainsFunc(r.theirs, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return "it is another module's, and not meant for this package"
		}
	case !r.files && slices.ContainsFunc(outside, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") }):
		return "it has no business with the outside world"
	}
	return ""
}

// most is how many files of code a package may have.
const most = 25

func TestPackagesAreSmall(t *testing.T) {
	files := map[string]int{}
	for _, root := range []string{".", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				files[filepath.ToSlash(filepath.Dir(filepath.Join("internal", path)))]++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files["internal/report"] == 0 || files["cmd/d3p"] == 0 {
		t.Fatalf("packages are missing among %v", files)
	}
	for dir, n := range files {
		if n > most {
			t.Errorf("%s has %d files of code, more than %d: give it rooms", dir, n, most)
		}
	}
}

// sources lists the imports of every package below root, tests aside; packages
// that are themselves for tests may use random numbers.
func sources(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "gen") {
			return filepath.SkipDir // gen: generators are modules of their own
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		if _, ok := found[dir]; !ok {
			found[dir] = nil
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if testing := dir == "experiments/audit" || dir == "privacy/enginetest" || dir == "privacy/sensitivity" || dir == "report/reporttest"; testing && name == "math/rand/v2" {
				continue
			}
			found[dir] = append(found[dir], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Nothing that could send a record anywhere, or start what could, is linked behind the
// records or into an engine or a fit: neither directly nor by what another module
// brings along.
func TestNothingSendsRecords(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./privacy/...", "./models/...", "./cpu", "./gpu", "./fit").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, "d3p/internal/privacy/internal/records") || !slices.Contains(packages, "os") {
		t.Fatalf("the records are not among the packages listed:\n%s", out)
	}
	for _, name := range packages {
		for _, refused := range []string{"net", "crypto/tls", "os/exec", "os/user", "log/syslog", "plugin", "golang.org/x/net", "google.golang.org/grpc"} {
			if name == refused || strings.HasPrefix(name, refused+"/") {
				t.Errorf("%s stands behind the records", name)
			}
		}
	}
}

// The rules themselves have the order of the layers: no lower one may import a
// higher one.
func TestRulesAreLayered(t *testing.T) {
	// A step and its price without records: what settings name.
	low := []string{"fit/optimizer", "privacy/event", "privacy/noise", "privacy/sampler", "privacy/schedule", "settings"}
	layer := func(name string) int {
		if slices.Contains(low, name) {
			return 1
		}
		switch strings.Split(name, "/")[0] {
		case "models":
			return 1
		case "privacy", "table1":
			return 2
		case "cpu", "gpu", "fit", "posterior", "predict", "reference", "score", "synthesis":
			return 3
		case "report", "outputs", "verdict", "verify", "effects", "export", "ledger", "status":
			return 4
		case "run", "rehearsal":
			return 5
		case "experiments":
			return 6
		}
		return 0
	}
	for name, r := range rules {
		for _, below := range r.ours {
			if layer(below) > layer(name) {
				t.Errorf("internal/%s may import internal/%s, which is above it", name, below)
			}
			engine := strings.HasPrefix(below, "cpu") || strings.HasPrefix(below, "gpu")
			if engine && !strings.HasPrefix(name, "experiments") && !strings.HasPrefix(name, strings.Split(below, "/")[0]) {
				t.Errorf("internal/%s may import an engine: commands open one and hand it over", name)
			}
		}
	}
}
