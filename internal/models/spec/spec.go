// Package spec reads model files: YAML -> a checked Spec in which every value has its file,
// line and column. It finds all mistakes of a file in one run, and prints a Spec with every
// default filled in. Packages formula and twin check and lower their own blocks. It opens
// no file: see Loader.
package spec

import (
	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/formula"
	"d3p/internal/models/net"
	"d3p/internal/models/source"
	"d3p/internal/models/twin"
)

// Version is the version of the model language, the value of the key `d3p`.
const Version = 1

// Spec is a checked model file.
type Spec struct {
	File        string
	Version     source.Value[int]
	Name        source.Value[string]
	Description source.Value[string]
	Include     []source.Value[string]
	Data        data.Data
	Model       *formula.Model // the formula front end; nil when the file has core blocks
	Core        *core.Core     // the core blocks as written; nil if the file has none
	Twin        *twin.Twin     // the front end of synthetic tables; nil if the file has none
	Likelihood  core.Likelihood
	Nets        []*net.Declaration
	Settings    Settings
	Guide       Guide
	Privacy     Privacy
	Output      Output
	Release     Release
	// OldNames: the file has names or spellings of settings that they had, as an
	// earlier version writes them.
	OldNames bool
	// Warnings are about valid declarations, such as columns that nothing uses.
	Warnings expr.Errors
	// Public holds the further files that Parse has read (level lists, public tables,
	// includes) by their requested paths: a copy of the model needs them.
	Public map[string][]byte

	bought   data.Bought
	unlisted []*data.Column // wrong levels are reported there
}

// Parse reads a model file; file is its name in messages. Public files that it names
// (include, levels_from, tables) are read with load, by paths relative to the model file;
// load may be nil without such files. The Spec is complete only without Errors, which are
// all mistakes of the file in the order of their positions.
func Parse(file string, src []byte, load Loader) (*Spec, expr.Errors) {
	return ParseSettled(file, src, data.Bought{}, load)
}

// ParseSettled reads a model file and puts bought numbers and levels into it.
func ParseSettled(file string, src []byte, bought data.Bought, load Loader) (*Spec, expr.Errors) {
	if load == nil {
		load = noFiles
	}
	p := &source.Problems{}
	s := &Spec{File: file, Public: map[string][]byte{}, Settings: Settings{}, bought: bought}
	keep := func(path string) ([]byte, error) {
		src, err := load(path)
		if err == nil {
			s.Public[path] = src
		}
		return src, err
	}
	b := &blocks{Problems: p, spec: s, load: keep, seen: map[string]expr.Position{}}
	b.file(&reader{Problems: p, spec: s, file: file}, src, 0)
	if len(b.seen) > 0 {
		b.check()
	}
	s.Warnings.Sort()
	return s, p.Sorted()
}

// blocks reads the top-level blocks of a model file and of its included files.
type blocks struct {
	*source.Problems
	spec *Spec
	load Loader
	seen map[string]expr.Position // of each block, over all files
}

// maxIncludes bounds the nesting of includes, so that a cycle is an error.
const maxIncludes = 8

// file reads one file; depth counts the includes above it.
func (b *blocks) file(r *reader, src []byte, depth int) {
	entries, ok := r.document(src)
	if !ok {
		return
	}
	defer r.namesBoughtLevels(src)
	known := b.topLevel(depth)
	for _, e := range entries {
		if first, twice := b.seen[e.key]; twice && e.key != "d3p" && e.key != "include" {
			r.Add(e.at, "", "%s is also declared at %s", e.key, first)
		} else {
			b.seen[e.key] = e.at
		}
	}
	r.each(entries, wholeFile, known)
	if depth == 0 && !b.has("d3p") {
		r.Add(expr.Position{File: r.file, Line: 1, Column: 1}, "add `d3p: 1` as the first line", "the model file does not state its language version")
	}
}

// topLevel lists the blocks of a model file.
func (b *blocks) topLevel(depth int) []field {
	s := b.spec
	return []field{
		value("d3p", &s.Version, (*reader).version).means("the version of the language, 1"),
		text("name", &s.Name).means("of the model, for reports and folders"),
		text("description", &s.Description).means("for reports"),
		{key: "include", read: func(r *reader, e entry) { b.include(r, e, depth) }, meaning: "files from which whole blocks are taken"}, // printed as part of the file
		lazy("data", func(r *reader, e entry) { s.readData(r, e); b.levels(r) }, true, func() []field { return s.dataFields(nil, nil, nil) }).means("public facts about the table; none may come from the records"),
		named("nets", &s.Nets, b.readPretrained, func(p *printer, n *net.Declaration) {
			p.block(n.Name.V, func() { p.fields(netFields(n)) })
		}).means("networks, which expressions call by name"),
		lazy("model", s.readModel, s.Model != nil, s.modelFields).means("a regression by a formula"),
		lazy("core", s.readCore, s.Core != nil, func() []field { return coreFields(s.Core) }).means("a model by parameters and distributions, in place of a formula"),
		s.likelihoodField(),
		lazy("twin", s.readTwin, s.Twin != nil, func() []field { return twinFields(s.Twin, &s.Data) }).means("a distribution of whole records, for synthetic tables"),
		s.Guide.field(s).means("the family of the approximate posterior"),
		s.Settings.block("fit", s.Settings.fitFields()...).means("how the fit runs; the plan decides missing values"),
		s.Settings.block("privacy", s.Privacy.fields()...).means("the budget"),
		s.Settings.block("output", s.Output.fields()...).means("what is written"),
		s.Release.field(),
	}
}

func (b *blocks) has(key string) bool { _, ok := b.seen[key]; return ok }

// version reads `d3p: 1`.
func (r *reader) version(e entry) source.Value[int] {
	v := r.count(e, 1)
	if v.IsSet() && v.V != Version {
		r.Add(v.At, "this d3p reads version 1", "unknown language version %d", v.V)
	}
	return v
}

// levels reads the levels from files, then checks all levels.
func (b *blocks) levels(r *reader) {
	d := &b.spec.Data
	failed := len(r.List)
	r.loadLevels(d, b.load)
	r.loadSequences(d, b.load)
	for _, c := range d.Columns {
		if c.LevelsFrom.IsSet() && len(c.Levels) == 0 && len(r.List) > failed {
			continue // already reported
		}
		r.checkLevels(c)
		r.checkMissing(d, c)
	}
	r.loadTables(d, b.load)
}

// check reports contradictions between the blocks.
func (b *blocks) check() {
	s := b.spec
	top := expr.Position{File: s.File, Line: 1, Column: 1}
	if !b.has("data") {
		b.Add(top, "", "the model file has no data block")
	}
	switch {
	case s.Model != nil && s.Core != nil:
		b.Add(s.Core.At, "keep one: `d3p render` turns a model into core blocks", "model and core both describe the model")
	case s.fronts() > 1:
		b.Add(s.Twin.At, "keep one: `d3p render --core` turns each into core blocks", "the file also has model or core, which describe the model, too")
	case s.Model == nil && s.Core == nil && !b.has("model") && !b.has("core") && !b.has("twin"):
		b.Add(top, "add `model:` with a formula", "the model file has no model block")
	}
	b.checkSettings()
	b.checkUnused()
	b.checkNames()
	b.checker().CheckGroups()
	if s.Model != nil && len(s.Data.Columns) > 0 {
		formula.Check(b.checker(), s.Model)
	} else if s.Core != nil {
		b.checker().Used(s.Core.UsedBy(&s.Data))
	} else if s.Twin != nil {
		twin.Check(b.checker(), s.Twin)
	}
}

// checker has the parts of the file that the checks of a model need.
func (b *blocks) checker() *data.Checker {
	return &data.Checker{Problems: b.Problems, Data: &b.spec.Data, Warnings: &b.spec.Warnings}
}

// checkNames reports columns that share a name with a header of another one.
func (b *blocks) checkNames() {
	d := &b.spec.Data
	headers := make(map[string]*data.Column)
	for _, c := range d.Columns {
		if other := headers[c.HeaderName()]; other != nil {
			b.Add(c.Name.At, "", "columns %s and %s read the same header", other.Name.V, c.Name.V)
		}
		headers[c.HeaderName()] = c
	}
	if id := d.Unit.ID; id.IsSet() {
		if headers[id.V] != nil {
			b.Add(id.At, "leave it out of columns", "the unit's id %s must not be a column of the model", id.V)
		}
		for _, c := range d.Drop {
			if c.V == id.V {
				b.Add(c.At, "leave it out of drop: the model sees no ids", "column %s is dropped, but it names the unit", c.V)
			}
		}
	}
}
