package report

import (
	"maps"
	"time"

	"d3p/internal/fit/plan"
	"d3p/internal/models/encoding"
	"d3p/internal/models/guide"
	"d3p/internal/models/source"
	"d3p/internal/models/spec"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/safetensors"
	"d3p/internal/settings"
	"d3p/internal/verdict"
)

// The values of Run.Status.
const (
	Complete = "complete"
	Planned  = "planned" // no record was read: the report of a future fit
)

// Run is the input of a release. Everything in it is public, or left the curator through
// a mechanism in Event.
type Run struct {
	ID         string
	Created    time.Time
	Status     string
	Tool       Tool
	Name       string
	Spec       *spec.Spec
	SpecSHA256 string            // of the model file as given
	Encoding   encoding.Encoding // the columns that the model reads
	Settings   []Applied
	Command    []string // flags, without the names of files
	Accepted   []string // risks accepted by name
	Formats    []string // of the draws; none: the default ones

	Plan      *plan.Plan
	Posterior *posterior.Posterior
	Params    []outputs.Parameter
	Draws     outputs.Draws
	Weights   []safetensors.Array // network weights that are points
	Prior     *outputs.Draws      // nil when the prior was not drawn from
	Simulated *outputs.Tables     // draws from the prior; nil if there are none
	Trace     *outputs.Trace      // nil when no iterates were kept

	Event     event.Event // the ledger of the run's releases
	Spent     accountant.Answer
	Booked    *Booked // the data set's ledger; nil if there is none
	Utility   string  // content of utility.md, for a run with Marginals
	Marginals any     // content of marginals.json, of a synthetic table; nil: none
	Insecure  bool    // the noise was fixed by a seed

	known verdict.Known
	rows  []outputs.Summary // of Draws
}

// Banner is settings.NotPrivate for a run without a guarantee, else "".
func (r *Run) Banner() string {
	if r.Insecure || !r.Plan.Private {
		return settings.NotPrivate
	}
	return ""
}

// Rows is the summary of the draws, with their verdicts.
func (r *Run) Rows() []outputs.Summary {
	if r.rows == nil {
		r.rows = r.Draws.Summarise()
	}
	return r.rows
}

// Release returns the files of release/, without the manifest.
func (r *Run) Release() ([]release.File, error) {
	public := *r.Spec
	public.Settings = maps.Clone(r.Spec.Settings)
	maps.DeleteFunc(public.Settings, func(name string, _ source.Value[any]) bool { return settings.Named(name).File })
	rendered := public.Render()
	privacy, err := r.Privacy()
	if err != nil {
		return nil, err
	}
	parameters, err := r.Parameters()
	if err != nil {
		return nil, err
	}
	sample, err := r.sample(privacy)
	if err != nil {
		return nil, err
	}
	findings := Findings{Rows: r.Rows(), Trace: r.Trace, Overlays: Overlays(r.Draws, r.Rows(), r.Prior, Panels)}
	files := []release.File{
		release.JSONFile(paramsName, true, parameters),
		outputs.SummaryFile(findings.Rows, r.Banner()),
		release.JSONFile(privacyName, true, privacy), MarkdownFile(privacy, findings), HTMLFile(privacy, findings),
		LockFile(rendered, r.Settings, r.Banner()),
	}
	if r.Banner() == "" { // the file has no place for a banner
		files = append(files, release.JSONFile(EventName, true, privacy.Accounting.Event))
	}
	if r.Banner() == "" && len(r.Spec.Release.Authors) > 0 {
		registry, err := RegistryFile(privacy, r.Spec)
		if err != nil {
			return nil, err
		}
		files = append(files, registry)
	}
	files = append(files, Table1Files(privacy)...)
	files = append(files, outputs.SideQueriesFiles(privacy.Mechanism.SideQueries, privacy.Banner)...)
	files = append(files, PublicFiles(r.Spec.Public)...)
	if len(r.Weights) > 0 {
		files = append(files, outputs.WeightsFile(r.Weights, r.weightsMetadata()))
	}
	if r.Marginals != nil {
		files = append(files, release.JSONFile(MarginalsName, true, r.Marginals), UtilityFile(r.Utility))
	}
	if r.Trace != nil {
		files = append(files, outputs.TraceFile(r.Trace, sample.Metadata()))
	}
	if r.Draws.S > 0 && len(r.Draws.Variables) > 0 { // otherwise the posterior is a point
		files = append(files, sample.Files(r.Formats)...)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return append(files, ReadmeFile(privacy, names)), nil
}

// Parameters is the content of params.json. The error is about arrays of weights with the
// same name.
func (r *Run) Parameters() (outputs.Parameters, error) {
	p := r.Posterior
	if r.Plan.Clipping == plan.ClippingCounts {
		return outputs.Parameters{
			SchemaVersion: release.SchemaVersion, Privacy: r.Banner(), Model: r.Name, Steps: p.Steps,
			Guide: outputs.Guide{Family: plan.MethodMarginals, Lambda: []float64{}, VarDP: []float64{}}, Parameters: []outputs.Parameter{},
		}, nil
	}
	weights, err := outputs.Reference(r.Weights, r.weightsMetadata())
	lambda, varDP := p.Lambda, p.VarDP
	if weights != nil {
		lambda, varDP = outputs.WithoutWeights(r.Params, lambda), outputs.WithoutWeights(r.Params, varDP)
	}
	return outputs.Parameters{
		SchemaVersion: release.SchemaVersion, Privacy: r.Banner(), Model: r.Name, Steps: p.Steps,
		Guide:      outputs.Guide{Family: p.Guide.Name(), Rank: r.Plan.Rank, Chains: chainsOf(p), Blocks: r.Plan.Blocks, Lambda: lambda, VarDP: varDP, NoiseFactor: p.NoiseFactor, Weights: weights},
		StepMisfit: p.StepMisfit,
		Parameters: r.Params,
	}, err
}

// chainsOf is the number of chains that a sample comes from; 0 for other posteriors.
func chainsOf(p *posterior.Posterior) int {
	if g, ok := p.Guide.(guide.Sample); ok {
		return g.Chains()
	}
	return 0
}

// sample holds the draws for the files of draws, under the report p.
func (r *Run) sample(p *Privacy) (*outputs.Sample, error) {
	sample := &outputs.Sample{Draws: r.Draws, Prior: r.Prior, Simulated: r.Simulated, Model: r.Name, Steps: r.Posterior.Steps}
	return sample, p.Describe(sample)
}

// weightsMetadata is the file's description of itself.
func (r *Run) weightsMetadata() map[string]string {
	return map[string]string{"d3p.schema_version": "1", "d3p.run_id": r.ID, safetensors.PrivacyKey: r.Claim()}
}
