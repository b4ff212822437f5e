package skeleton

import (
	"strings"
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/models/spec"
)

// TestSkeleton checks that a skeleton is valid but for its blanks: a check
// reports each of them, once, and nothing else; filled in, nothing.
func TestSkeleton(t *testing.T) {
	header := []string{"age", "Whole weight", "1st", "age", "größe", "a-b", "and", "null", "", "quote\"d", "out"}
	src := string(Skeleton(header, Known{}))
	for _, h := range header {
		if h != "" && !strings.Contains(src, h) && !strings.Contains(src, strings.ReplaceAll(h, `"`, `\"`)) {
			t.Errorf("column %q is not in the skeleton", h)
		}
	}
	s, errs := spec.Parse("m.yaml", []byte(src), nil)
	// Besides: entity, rows, formula and family, and the two columns of one name; one has none.
	if want := len(header) + 4; len(errs) != want {
		t.Errorf("%d mistakes, want %d:\n%v\n%s", len(errs), want, errs, src)
	}
	for _, e := range errs {
		if !strings.HasSuffix(e.Message, "is still to be filled in") && !strings.HasSuffix(e.Message, "read the same header") {
			t.Errorf("unexpected: %v", e)
		}
	}
	if len(s.Data.Columns) != len(header)-1 {
		t.Errorf("%d columns, want %d", len(s.Data.Columns), len(header)-1)
	}
	filled := strings.NewReplacer(
		"entity: "+spec.Blank, "entity: person",
		"public: "+spec.Blank, "public: 100",
		"type: "+spec.Blank, "type: real, lower: 0, upper: 1",
		"    out: "+spec.Blank, "    out: {type: binary}",
		"formula: "+spec.Blank, "formula: out ~ 1",
		"family: "+spec.Blank, "family: bernoulli",
		": "+spec.Blank, ": {type: real, lower: 0, upper: 1}",
	).Replace(src)
	filled = strings.Replace(filled, `{header: "age"`, `{header: "age again"`, 1)
	if _, errs := spec.Parse("m.yaml", []byte(filled), nil); len(errs) > 0 {
		t.Errorf("%v\n%s", errs, filled)
	}
}

// A first line with one name of several is a title, others end in separators or begin with row numbers.
func TestSkeletonOfTitles(t *testing.T) {
	for _, c := range []struct {
		header []string
		want   bool
	}{{[]string{"Survey 2024", "", " "}, true}, {[]string{"age", "sex", "", "", ""}, false}, {[]string{"", "age"}, false}} {
		if got := strings.Contains(string(Skeleton(c.header, Known{})), "is the first line a title?"); got != c.want {
			t.Errorf("%q: a title %v, want %v", c.header, got, c.want)
		}
	}
}

// A byte-order mark is not part of the text. A file that is not UTF-8 gives one error.
func TestTextOfModelFiles(t *testing.T) {
	src := string(Skeleton([]string{"age"}, Known{}))
	_, want := spec.Parse("m.yaml", []byte(src), nil)
	if _, errs := spec.Parse("m.yaml", []byte("\ufeff"+src), nil); len(errs) != len(want) || errs[0].Error() != want[0].Error() {
		t.Errorf("with a byte order mark: %v, want %v", errs, want)
	}
	wide := strings.Join(strings.Split(src, ""), "\x00")
	for _, text := range []string{"\xff\xfe" + wide, wide, "d3p: 1\nname: caf\xe9\n"} {
		if _, errs := spec.Parse("m.yaml", []byte(text), nil); len(errs) != 1 || errs[0].Message != "the file is no text in UTF-8" {
			t.Errorf("%.8q: %v", text, errs)
		}
	}
}

// Init does not ask for known facts, but asks where the file contradicts them.
func TestSkeletonOfWhatIsKnown(t *testing.T) {
	known := Known{Entity: "patient", Records: 8124, Formula: "y ~ 1", Family: "bernoulli"}
	columns := []Described{{Name: "y", Levels: "no|yes"}}
	if _, errs := spec.Parse("m.yaml", FromCodebook(columns, known), nil); len(errs) > 0 {
		t.Error(errs)
	}
	known.Semicolons = true
	_, errs := spec.Parse("m.yaml", FromCodebook(columns, known), nil)
	if len(errs) != 1 || errs[0].Message != "decimal is still to be filled in" {
		t.Error(errs)
	}
	if text := string(Skeleton([]string{"y"}, known)); strings.Contains(text, "%") {
		t.Errorf("a verb is left:\n%s", text)
	}
}

// TestSkeletonOfLists: a list of numbers or words is no column, and its declaration as tokens
// is there to be taken.
func TestSkeletonOfLists(t *testing.T) {
	text := string(Skeleton([]string{"liked", "my words", "ids"}, Known{Lists: map[string]string{"my words": "text: words.txt", "ids": "tokens: 30000"}}))
	if !strings.Contains(text, "  columns:\n    liked: FILL_IN\n") || !strings.Contains(text, "  # tensors:\n  #   my_words: {from: \"my words\", text: words.txt, dims: [t], shape: [64]}\n  #   ids: {from: ids, tokens: 30000, dims: [t], shape: [64]}\n") {
		t.Error(text)
	}
}

// A known formula says which columns are needed, under the names that it can use.
func TestSkeletonOfAFormula(t *testing.T) {
	header := []string{"id", "Age", "blood pressure", "log", "died", "note"}
	for formula, want := range map[string]string{
		"died ~ Age + log(Age)":              "Age log died",
		"died ~ 1 + poly(blood_pressure, 2)": "blood_pressure died",
		"died ~ age":                         "Age died", // the check asks: did you mean Age?
		"died ~ .":                           "id Age blood_pressure log died note",
		"died~.-note":                        "id Age blood_pressure log died note",
		"died ~ 1 + offset(log(0.5 * Age))":  "Age log died",
		"":                                   "id Age blood_pressure log died note",
	} {
		src := string(Skeleton(header, Known{Formula: formula}))
		var described []Described
		for _, h := range header {
			described = append(described, Described{Name: h})
		}
		for _, text := range []string{src, string(FromCodebook(described, Known{Formula: formula}))} {
			s, _ := spec.Parse("m.yaml", []byte(text), nil)
			if got := strings.Join(s.Data.ColumnNames(), " "); got != want {
				t.Errorf("%s: columns %s, want %s", formula, got, want)
			}
			if strings.Contains(text, "not here") != !strings.Contains(want, "id") {
				t.Errorf("%s: what is left out is not said, or is:\n%s", formula, text)
			}
		}
	}
}

// Roles make a formula if there is one response, and a twin needs none. A name of two lines has
// one in the comment on columns that are left out.
func TestFormulaOfRoles(t *testing.T) {
	columns := []Described{{Name: "a", Type: "bool", Role: "Outcome"}, {Name: "b", Type: "ordinal", Role: "exposure"}, {Name: "ward\n2", Role: "group"}, {Name: "c", Type: "bool"}}
	text := string(FromCodebook(columns, Known{}))
	for _, want := range []string{"    a: {type: binary, source", "    b: {type: ordinal, levels: FILL_IN", "formula: a ~ 1 + b + (1 | ward_2)\n", "family: bernoulli\n", "# Not in the formula, and so not here: c\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := string(FromCodebook(columns, Known{Formula: "a ~ b", Family: "bernoulli"})); !strings.Contains(text, "# Not in the formula, and so not here: ward 2, c\n") {
		t.Error(text)
	}
	if text := string(FromCodebook(columns, Known{Twin: true})); strings.Contains(text, "not here") {
		t.Errorf("a twin lacks columns:\n%s", text)
	}
	columns[3].Role = "outcome"
	if text := string(FromCodebook(columns, Known{})); !strings.Contains(text, "formula: FILL_IN\n") {
		t.Errorf("two responses:\n%s", text)
	}
}

// Whole numbers of a codebook that group records are levels.
func TestCodebookOfGroups(t *testing.T) {
	columns := []Described{{Name: "district", Type: "integer", Lower: "1", Upper: "61"}, {Name: "age", Type: "integer", Lower: "0", Upper: "99"}, {Name: "y", Levels: "no|yes"}}
	known := Known{Entity: "woman", Records: 1934, Formula: "y ~ age + (1 + age | district)", Family: "bernoulli"}
	s, errs := spec.Parse("m.yaml", FromCodebook(columns, known), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if n := len(s.Data.Column("district").Levels); n != 61 || s.Data.Column("age").Type.V != data.Integer {
		t.Errorf("%d levels of district; age is %s", n, s.Data.Column("age").Type.V)
	}
}

// A twin's skeleton is about the columns alone: what a codebook lacks of them is all
// that is asked for.
func TestSkeletonOfATwin(t *testing.T) {
	known := Known{Entity: "woman", Records: 1934, Twin: true}
	columns := []Described{{Name: "age", Type: "integer", Lower: "0", Upper: "99"}, {Name: "id", Type: "integer"}, {Name: "use", Levels: "no|yes"}}
	_, errs := spec.Parse("m.yaml", FromCodebook(columns, known), nil)
	if len(errs) != 2 || errs[0].Message != "lower is still to be filled in" || errs[1].Message != "upper is still to be filled in" {
		t.Errorf("%v", errs)
	}
	_, errs = spec.Parse("m.yaml", Skeleton([]string{"age", "use"}, known), nil)
	if len(errs) != 2 {
		t.Errorf("a header alone: %v, want a blank for each column", errs)
	}
	s, errs := spec.Parse("m.yaml", FromCodebook(columns[:1], known), nil)
	if len(errs) > 0 || s.Twin == nil || s.Model != nil {
		t.Errorf("%v; twin %v", errs, s.Twin)
	}
}
