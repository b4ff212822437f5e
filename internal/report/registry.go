package report

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"d3p/internal/models/source"
	"d3p/internal/models/spec"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/settings"
)

// registryEntry is a record of the differential privacy deployments registry,
// tier 3: github.com/opendp/deployments-registry-data, schemas/deployments-schema.yaml.
// The registry allows no other fields.
type registryEntry struct {
	Slug       string             `yaml:"url_slug"`
	Status     string             `yaml:"status"`
	Tier       int                `yaml:"tier"`
	Deployment registryDeployment `yaml:"deployment"`
}

type registryDeployment struct {
	Basic          registryBasic          `yaml:"basic"`
	Variant        registryVariant        `yaml:"dp_variant"`
	Loss           registryLoss           `yaml:"privacy_loss"`
	Model          registryModel          `yaml:"deployment_model"`
	Accounting     registryAccounting     `yaml:"accounting"`
	Implementation registryImplementation `yaml:"implementation"`
	Administrative registryAdministrative `yaml:"administrative"`
}

type registryBasic struct {
	Name        string   `yaml:"name"`
	Curators    []string `yaml:"data_curators"`
	Description string   `yaml:"description"`
	IntendedUse string   `yaml:"intended_use"`
	Type        string   `yaml:"data_product_type"`
	Region      string   `yaml:"data_product_region"`
	Date        string   `yaml:"publication_date"`
	Sector      string   `yaml:"data_product_sector,omitempty"`
}

type registryVariant struct {
	Name        string `yaml:"variant_name"`
	Domain      string `yaml:"data_domain"`
	Unprotected string `yaml:"unprotected_quantities"`
}

type registryLoss struct {
	Unit        string             `yaml:"privacy_unit"`
	UnitDetails string             `yaml:"privacy_unit_details"`
	Parameters  registryParameters `yaml:"privacy_parameters"`
	Details     string             `yaml:"privacy_parameters_details"`
}

type registryParameters struct {
	Epsilon yamlNumber `yaml:"epsilon"`
	Delta   yamlNumber `yaml:"delta"`
}

// yamlNumber is written so that YAML 1.1 reads a number, too: 1.0e-05, where
// 1e-05 would be a text.
type yamlNumber float64

// MarshalYAML writes all digits.
func (n yamlNumber) MarshalYAML() ([]byte, error) {
	text := strconv.FormatFloat(float64(n), 'g', -1, 64)
	if mantissa, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(mantissa, ".") {
		text = mantissa + ".0e" + exponent
	}
	return []byte(text), nil
}

type registryModel struct {
	Name        string `yaml:"model_name"`
	Actors      string `yaml:"actors"`
	ReleaseType string `yaml:"release_type"`
	SourceType  string `yaml:"data_source_type"`
	AccessType  string `yaml:"access_type"`
}

type registryAccounting struct {
	PostProcessing string `yaml:"post_processing"`
	Composition    string `yaml:"composition"`
}

type registryImplementation struct {
	Preprocessing string `yaml:"preprocessing_and_hyperparameter_tuning"`
	Mechanisms    string `yaml:"mechanisms"`
	Justification string `yaml:"justification"`
}

type registryAdministrative struct {
	Notes   string   `yaml:"notes"`
	Authors []string `yaml:"registry_authors"`
}

// RegistryFile is registry.yaml. It fails if the model file names no author, which the
// registry requires, or if the release is not private.
func RegistryFile(p *Privacy, s *spec.Spec) (release.File, error) {
	if p.Guarantee == nil {
		return release.File{}, errors.New(settings.NotPrivate + ": only a differentially private release has a registry entry")
	}
	if len(s.Release.Authors) == 0 {
		return release.File{}, errors.New("the registry wants an author; type --author NAME, or add `release: {authors: [NAME]}` to the model file")
	}
	text, err := yaml.MarshalWithOptions(registryOf(p, &s.Release), yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
	if err != nil {
		return release.File{}, err
	}
	return release.File{Name: "registry.yaml", Covered: true, Write: func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}}, nil
}

// registryOf fills in an entry from the report and the declared words.
func registryOf(p *Privacy, r *spec.Release) registryEntry {
	const unstated = "not stated"
	e := registryEntry{Slug: slug(p.Subject.Name + " " + p.ReportID), Status: "Draft", Tier: 3}
	d := &e.Deployment
	d.Basic = registryBasic{
		Name: p.Subject.Name, Curators: texts(r.Curators), Description: orElse(p.Subject.Description, "posterior of a Bayesian model"),
		IntendedUse: r.IntendedUse.Or(unstated), Type: "Machine learning model", Region: r.Region.Or(unstated),
		Date: p.CreatedAt[:min(len(p.CreatedAt), len("2006-01-02"))], Sector: r.Sector.V,
	}
	if len(d.Basic.Curators) == 0 {
		d.Basic.Curators = []string{unstated}
	}
	var domain []string
	for _, c := range columnRows(p.Preprocessing) {
		domain = append(domain, c.Name+" ("+c.Steps[0]+")")
	}
	d.Variant = registryVariant{"Approximate DP", "tables with the columns " + strings.Join(domain, "; "), strings.Join(p.Unprotected, "; ")}
	d.Loss = registryLoss{
		Unit: p.Unit.Entity, UnitDetails: p.Unit.Enforcement + "; neighbouring data sets: " + RelationWords(event.Relation(p.Neighbours.Relation)) + " one " + p.Unit.Entity,
		Parameters: registryParameters{yamlNumber(p.Guarantee.Epsilon), yamlNumber(p.Guarantee.Delta)},
		Details: fmt.Sprintf("smallest Gaussian differential privacy that covers %s: mu %s (regret %s); advantage of a membership test at most %s",
			p.Guarantee.GDP.Covers(), Upward(p.Guarantee.GDP.Mu), Upward(p.Guarantee.GDP.Regret), Upward(p.Risk.Advantage)),
	}
	d.Model = registryModel{"Central", strings.Join(append([]string{p.Setting.TrustModel}, p.Setting.Actors...), "; "), "One release", "Static", "Non-interactive"}
	d.Accounting = registryAccounting{
		PostProcessing: strings.Join(p.Scope.Covers, "; "),
		Composition:    fmt.Sprintf("adaptive composition of %d steps by numerical accounting (%s)", p.Mechanism.Iterations, p.Accounting.Method),
	}
	d.Implementation = registryImplementation{
		Preprocessing: "every constant is declared, none is computed from the records; " + p.Scope.Tuning.Note,
		Mechanisms: fmt.Sprintf("%s; %s batches at %s, %s, clipping of %s; random numbers: %s; %s; %s %s",
			p.Mechanism.Name, p.Mechanism.Sampler.Scheme, p.Mechanism.Sampler.rateWords(), p.Mechanism.noiseWords(6), p.Mechanism.Clip.Granularity,
			p.Randomness.Generator, p.Randomness.FloatingPoint, p.Tool.Name, p.Tool.Version),
		Justification: orElse(p.Justification, unstated),
	}
	d.Administrative = registryAdministrative{"a draft written by d3p from privacy.json of run " + p.ReportID, texts(r.Authors)}
	return e
}

// slug is a name for use in an address.
func slug(words string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(words)), "-")
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func texts(list []source.Value[string]) (out []string) {
	for _, v := range list {
		out = append(out, v.V)
	}
	return out
}
