package skeleton

import (
	"strings"
	"testing"

	"d3p/internal/models/data"
	"d3p/internal/models/spec"
)

// Facts of a codebook become declarations; only the others are left to be filled in.
func TestFromCodebook(t *testing.T) {
	src := string(FromCodebook([]Described{
		{Name: "age", Type: "integer", Lower: "18", Upper: "100", Center: "60", By: "20", Source: "codebook v3, p. 4", Label: "age at\nadmission"},
		{Name: "body mass", Lower: "10", Upper: "70", Transform: "log"},
		{Name: "smoker", Levels: "never | former | current", Unknown: "never"},
		{Name: "died", Levels: "no; yes"},
		{Name: "ward", Type: "category"},
		{Name: "crp", Type: "real", Lower: "0"},
		{Name: "note"},
		{Name: "sex", Type: "factor", Levels: "f|m"},
		{Name: "job", Type: "Categorical", Levels: "a|b|c"},
		{Name: "income", Type: "Real", Lower: "0", Upper: "1e6"},
		{Name: "seen", Type: "Date", Lower: "2020-01-01", Upper: "2021-12-31"},
	}, Known{}))
	s, errs := spec.Parse("m.yaml", []byte(src), nil)
	// entity, rows, formula, family; levels of ward, upper of crp, type of note.
	if len(errs) != 7 {
		t.Errorf("%d mistakes, want 7:\n%v\n%s", len(errs), errs, src)
	}
	for _, e := range errs {
		if !strings.HasSuffix(e.Message, "is still to be filled in") {
			t.Errorf("unexpected: %v", e)
		}
	}
	c := s.Data.Columns
	if len(c) != 11 {
		t.Fatalf("%d columns, want 11", len(c))
	}
	for i, want := range []string{data.Binary, data.Category, data.Real, data.Date} {
		if got := c[7+i]; got.Type.V != want {
			t.Errorf("%s is of type %s, want %s", got.Name.V, got.Type.V, want)
		}
	}
	if center, by := c[0].Scale(); c[0].Type.V != data.Integer || c[0].Upper.V != 100 || center != 60 || by != 20 || c[0].Source.V != "codebook v3, p. 4" {
		t.Errorf("age: %+v", c[0])
	}
	if c[1].HeaderName() != "body mass" || c[1].Type.V != data.Real || c[1].Transform.V != "log" || c[1].Source.V != "codebook" {
		t.Errorf("body mass: %+v", c[1])
	}
	if got := strings.Join(c[2].LevelNames(), ","); got != "never,former,current" || c[2].Unknown.V != "never" || c[2].Type.V != data.Category {
		t.Errorf("smoker: %s, %+v", got, c[2])
	}
	if c[3].Type.V != data.Binary || strings.Join(c[3].LevelNames(), ",") != "no,yes" {
		t.Errorf("died: %+v", c[3])
	}
	if !strings.Contains(src, "# age at admission") {
		t.Error("a label is lost, or breaks its line")
	}
}

// Codes for no value are tokens of their column, which the same number of another column is not.
func TestMissingCodesOfACodebook(t *testing.T) {
	columns := []Described{
		{Name: "sbp", Type: "numeric", Lower: "60", Upper: "260", Unknown: "-9"},
		{Name: "age", Type: "int", Lower: "18", Upper: "90", Missing: "99|NA|-9"},
		{Name: "smoker", Levels: "never|former|current", Unknown: "never"},
		{Name: "hours", Type: "int", Lower: "1", Upper: "99"},
	}
	known := Known{Entity: "patient", Records: 100, Formula: "sbp ~ age + smoker + hours", Family: "normal"}
	s, errs := spec.Parse("m.yaml", FromCodebook(columns, known), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for i, want := range []string{"-9", "99,-9", "", ""} {
		var got []string
		for _, token := range s.Data.Columns[i].MissingTokens {
			got = append(got, token.V)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("tokens of %s: %q, want %q", columns[i].Name, got, want)
		}
	}
	if len(s.Data.MissingTokens) != 0 {
		t.Errorf("tokens of all columns: %q", s.Data.MissingTokens)
	}
}

// Roles of a codebook make the formula, the family and the id; what is ignored is left out.
func TestRolesOfACodebook(t *testing.T) {
	columns := []Described{
		{Name: "pid", Role: "ID"}, {Name: "body mass", Type: "real", Lower: "10", Upper: "70", Role: "Covariate"},
		{Name: "site", Type: "category", Levels: "a|b|c", Role: "cluster"}, {Name: "died", Levels: "no|yes", Role: "outcome"},
		{Name: "note", Role: "ignore"}, {Name: "height", Type: "real", Lower: "100", Upper: "220"},
	}
	s, errs := spec.Parse("m.yaml", FromCodebook(columns, Known{Entity: "patient", Records: 100}), nil)
	if len(errs) != 1 || errs[0].Message != "rows_per_unit is still to be filled in" {
		t.Errorf("%v", errs)
	}
	if got := s.Model.Formula.V + ", " + s.Model.Family.V; got != "died ~ 1 + body_mass + (1 | site), bernoulli" {
		t.Errorf("the model is %s", got)
	}
	if got := strings.Join(s.Data.ColumnNames(), " "); got != "body_mass site died" {
		t.Errorf("columns %s", got)
	}
	s, _ = spec.Parse("m.yaml", FromCodebook(columns, Known{Formula: "died ~ height", Family: "normal"}), nil)
	if got := s.Model.Formula.V + ", " + s.Model.Family.V; got != "died ~ height, normal" {
		t.Errorf("roles replace a formula that is stated: %s", got)
	}
}
