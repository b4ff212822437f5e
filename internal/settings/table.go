package settings

import (
	"strings"
	"sync"

	"d3p/internal/fit/optimizer"
	"d3p/internal/models/guide"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/privacy/schedule"
)

// Table lists every setting, in the order of the help text and of the model file.
// The caller must not change it.
func Table() []Setting { return table() }

var table = sync.OnceValue(rows)

// rows makes the table: a new setting is a row here.
func rows() []Setting {
	return []Setting{
		{Name: "epsilon", Heading: "Privacy", Key: "privacy.epsilon", Group: Price, Kind: Number, Range: positive(),
			Outside: "1 is a common choice; d3p fit-nonprivate fits without privacy",
			Help:    "privacy budget ε of the whole fit"},
		{Name: "delta", Key: "privacy.delta", Group: Price, Kind: Number, Range: inside(),
			Outside: "leave it out for the default; a δ above 1/N lets a whole record out",
			Help:    "privacy budget δ", Default: "min(1e-5, N^-1.1)"},
		{Name: "neighbours", Old: []string{"adjacency", "relation"}, Key: "privacy.neighbours", Group: Price, Kind: Word, Choices: event.RelationNames(),
			Help: "which data sets are neighbours", Default: string(event.AddRemove)},
		{Name: "noise-multiplier", Key: "privacy.noise_multiplier", Group: Price, Kind: Number, Range: positive(), Quiet: true,
			Help: "noise standard deviation in units of the clip norm, instead of --epsilon"},
		{Name: "noise-schedule", Key: "fit.noise_schedule", Group: Price, Kind: Text, Form: scheduleForm, Quiet: true,
			Needs: []Need{
				{Unless: schedule.Constant, Setting: "sampling", Not: []string{sampler.BallsAndBins, sampler.Shuffle}, Rather: sampler.Poisson, Why: "an epoch is accounted for as a whole"},
				{Unless: schedule.Constant, Setting: "noise-aware", Not: []string{NoiseAwareMoments}, Rather: NoiseAwareCurvature},
			},
			Help: "factor of the noise multiplier by step: constant; linear:R or cosine:R from 1 to R, in 32 equal pieces; or F@S,F@S,..., factor F from the share S of the steps on", Default: schedule.Constant},
		{Name: "batch-schedule", Key: "fit.batch_schedule", Group: Price, Kind: Text, Form: scheduleForm, Quiet: true,
			Needs: []Need{
				{Unless: schedule.Constant, Setting: "sampling", Not: []string{sampler.Full, sampler.FixedSize, sampler.BallsAndBins, sampler.Shuffle}, Rather: sampler.Poisson, Why: "only poisson batches change their rate"},
				{Unless: schedule.Constant, Setting: "clipping", Not: []string{ClippingAdaptive}, Rather: ClippingFlat, Why: "adaptive clipping counts on batches of one size"},
				{Unless: schedule.Constant, Setting: "noise-aware", Not: []string{NoiseAwareMoments}, Rather: NoiseAwareCurvature},
			},
			Help: "factor of the sampling rate by step, in the form of noise-schedule; it implies --clipping flat", Default: schedule.Constant},
		{Name: "table1", Key: "privacy.table1", Group: Price, Kind: Share, Choices: []string{Auto, Table1None}, Range: Range{Low: 0, High: MostShare, Above: true},
			Help: "part of the budget, as a `SHARE` of μ², that buys how the columns are spread, before the fit and for it: auto, none or a number", Default: Table1Default},
		{Name: Trace, Key: "fit.trace", Group: Price, Kind: Text, Form: traceForm, Quiet: true,
			Help: "quantities to buy of ten iterates after the last step, over all records: loss, accuracy or classes, separated by commas, then @SHARE of μ² (0.03); the loss is -log p of the observed level, at most log(levels) + 2, or the absolute error of a number", Default: TraceNone},
		{Name: "records", Heading: "Batches and steps", Key: "data.rows.public", Group: Algorithm, Kind: Count, Range: atLeast(1),
			Help: "public number of records N, or a bound", Default: "the model file's"},

		{Name: "sampling", Key: "fit.sampling", OldKeys: []string{"fit.sampling.scheme"}, Group: Algorithm, Kind: Word, Choices: sampler.Schemes(),
			Needs:   accounted(),
			Refused: map[string]Mistake{sampler.Feistel: {"a Feistel network is a way to draw the batches of poisson and fixed_size", "write one of them, and batches feistel beside it"}},
			Help:    "how a step chooses its records", Default: "poisson; full when the rate is 1"},
		{Name: "batches", Key: "fit.batches", Group: Algorithm, Kind: Word, Choices: []string{sampler.Exact, sampler.Feistel},
			Needs:   []Need{{When: []string{sampler.Feistel}, Setting: "sampling", Not: []string{sampler.Full, sampler.BallsAndBins, sampler.Shuffle}}},
			Help:    "how a poisson or fixed_size batch of given size is drawn: exact, uniformly; feistel, by a keyed network that no known attack distinguishes from that, which a CUDA device draws without the host",
			Default: "exact; feistel for --device cuda from 65,536 records on"},
		{Name: "sampling-rate", Key: "fit.sampling_rate", OldKeys: []string{"fit.sampling.rate"}, Group: Algorithm, Kind: Number,
			Range: Range{Low: 0, High: 1, Above: true},
			Needs: []Need{{Unless: "1", Setting: "sampling", Not: []string{sampler.Full}, Why: everyRecord}},
			Help:  "expected fraction q of the records per step", Default: "min(1, max(5000/N, 4μ/√T))"},
		{Name: "batch-size", Key: "fit.batch_size", OldKeys: []string{"fit.sampling.batch_size"}, Group: Algorithm, Kind: Count, Range: atLeast(1),
			Same: "sampling-rate", Needs: []Need{{Setting: "sampling", Not: []string{sampler.Full}, Why: everyRecord}},
			Help: "expected records per step, instead of the rate"},
		{Name: "steps", Key: "fit.steps", OldKeys: []string{"fit.iterations"}, Group: Algorithm, Kind: Count, Range: atLeast(1),
			Help: "number of steps T", Default: "1000"},
		{Name: "epochs", Key: "fit.epochs", Group: Algorithm, Kind: Number, Range: positive(), Same: "steps",
			Help: "number of expected passes over the data, instead of steps"},

		{Name: "clipping", Heading: "Clipping", Key: "fit.clipping", OldKeys: []string{"fit.clip.mode"}, Group: Price, Kind: Word,
			Choices: []string{ClippingAdaptive, ClippingFlat, ClippingAutomatic},
			Needs:   []Need{{When: []string{ClippingAdaptive}, Setting: "neighbours", Not: []string{string(event.ZeroOut)}, Why: uncounted}},
			Help:    "how a record's gradient is bounded; automatic is biased: it has no stationary point for logistic likelihoods", Default: "adaptive, or flat when μN < 200"},
		{Name: "clip-norm", Key: "fit.clip_norm", OldKeys: []string{"fit.clip.norm"}, Group: Price, Kind: Number, Range: factor(),
			Help: "bound C on a record's gradient, in L2 norm; alone, it implies --clipping flat", Default: "1; adaptive clipping starts at 0.1"},
		{Name: "clip-norm-schedule", Key: "fit.clip_norm_schedule", Group: Price, Kind: Text, Form: scheduleForm, Quiet: true,
			Needs: []Need{
				{Unless: schedule.Constant, Setting: "clipping", Not: []string{ClippingAdaptive}, Rather: ClippingFlat, Why: "adaptive clipping follows released counts"},
				{Unless: schedule.Constant, Setting: "noise-aware", Not: []string{NoiseAwareMoments}, Rather: NoiseAwareCurvature},
			},
			Help: "factor of the clip norm by step, in the form of noise-schedule; it implies --clipping flat and costs nothing", Default: schedule.Constant},
		{Name: "clip-groups", Key: "fit.clip_groups", Group: Price, Kind: Text, Form: clipGroupsForm, Quiet: true,
			Needs: []Need{
				{Unless: ClipGroupsWhole, Setting: "clipping", Not: []string{ClippingAdaptive}, Rather: ClippingFlat, Why: "of groups no count is released"},
				{Unless: ClipGroupsWhole, Setting: "gradient", Not: []string{GradientVanilla}, Rather: GradientAligned},
				{Unless: ClipGroupsWhole, Setting: "noise-aware", Not: []string{NoiseAwareMoments, NoiseAwareSample, NoiseAwareCurvature}, Rather: NoiseAwareVariance, Why: "it simulates the clipping of whole gradients"},
			},
			Help: "parts of a gradient that are clipped separately, to C times the root of their share: whole; each (parameter) or layers, with equal shares; each:size or layers:size, with shares by size; or NAME+NAME@SHARE,..., with all other parameters as the last part. It implies --clipping flat, and the price stays", Default: ClipGroupsWhole},
		{Name: "clip-quantile", Key: "fit.clip_quantile", OldKeys: []string{"fit.clip.quantile"}, Group: Price, Kind: Number, Range: inside(),
			Needs: []Need{
				{Setting: "clipping", Not: []string{ClippingFlat, ClippingAutomatic}, Rather: ClippingAdaptive},
				{Setting: "neighbours", Not: []string{string(event.ZeroOut)}, Why: uncounted},
			},
			Help: "fraction of records that adaptive clipping leaves unclipped", Default: "1 - clamp(10√P/(μN), 0.01, 0.4)"},

		{Name: "optimizer", Heading: "Optimizer", Key: "fit.optimizer", OldKeys: []string{"fit.optimizer.name"}, Group: Algorithm, Kind: Word, Choices: optimizer.Names(),
			Help: "how noisy gradients become steps", Default: optimizer.AdamName},
		{Name: "learning-rate", Key: "fit.learning_rate", OldKeys: []string{"fit.optimizer.lr"}, Group: Algorithm, Kind: Number, Range: factor(),
			Help: "step size", Default: "0.03 for adam, with wide priors and a bought Table 1 up to 0.1; a network whose outputs sum F products in the mean min(0.03, 0.056/√F)"},
		{Name: "schedule", Key: "fit.schedule", OldKeys: []string{"fit.optimizer.schedule"}, Group: Algorithm, Kind: Word, Choices: optimizer.ScheduleNames(), Quiet: true,
			Help: "how the step size changes", Default: "constant"},
		{Name: "momentum", Key: "fit.momentum", OldKeys: []string{"fit.optimizer.momentum"}, Group: Algorithm, Kind: Number, Range: Range{Low: 0, High: 1, Below: true}, Quiet: true,
			Needs: []Need{{Setting: "optimizer", Is: []string{optimizer.SGDName}}},
			Help:  "heavy-ball momentum of sgd"},
		{Name: "weight-decay", Key: "fit.weight_decay", OldKeys: []string{"fit.optimizer.weight_decay"}, Group: Algorithm, Kind: Number, Range: Range{Low: 0, High: 1e30, Below: true}, Quiet: true,
			Needs: []Need{{Setting: "optimizer", Is: []string{optimizer.AdamWName}}},
			Help:  "decoupled weight decay of adamw"},

		{Name: "guide", Heading: "Posterior", Key: "guide.type", Group: Algorithm, Kind: Word, Choices: guide.Names(),
			Needs: []Need{{Unless: guide.MeanFieldName, Setting: "gradient", Not: []string{GradientVanilla}, Rather: GradientAligned, Why: "only mean_field has vanilla gradients"}},
			Help:  "family of the approximate posterior", Default: guide.MeanFieldName},
		{Name: "init", Key: "guide.init", Group: Algorithm, Kind: Word, Choices: []string{InitZero, InitPrior},
			Help: "where the posterior's location starts", Default: "zero; for mixtures prior: real-valued parameters from one draw of their prior"},
		{Name: "init-scale", Key: "guide.init_scale", Group: Algorithm, Kind: Number, Range: positive(),
			Needs: []Need{{Setting: "guide", Not: []string{guide.DeltaName, guide.AmortisedName}}},
			Help:  "standard deviation of every parameter at the start", Default: "0.1"},
		{Name: "rank", Key: "guide.rank", Group: Algorithm, Kind: Count, Range: atLeast(1), Quiet: true,
			Needs: []Need{{Setting: "guide", Is: []string{guide.LowRankName}}},
			Help:  "number of factors of the low-rank guide", Default: "5, at most P"},
		{Name: "init-seed", Group: Algorithm, Kind: Seed,
			Help: "seed of public draws: starting point and reparameterisation noise. It never fixes privacy noise or batches"},

		{Name: "gradient", Key: "fit.gradient", Group: Algorithm, Kind: Word, Choices: []string{GradientAligned, GradientVanilla},
			Needs: []Need{{When: []string{GradientVanilla}, Setting: "compat", Is: []string{CompatD3P}, Why: "vanilla is the gradient of --compat d3p"}},
			Help:  "which gradient is released", Default: "aligned: P numbers a step instead of 2P"},
		{Name: "averaging", Key: "fit.averaging", OldKeys: []string{"fit.average_last"}, Group: Algorithm, Kind: Number, Range: Range{Low: 0, High: 1},
			Help: "fraction of the steps whose iterates are averaged; 0 takes the last one", Default: "0.5; 0.25 for networks"},
		{Name: "noise-aware", Key: "fit.noise_aware", Group: Price, Kind: Word,
			Choices: []string{NoiseAwareMoments, NoiseAwareSample, NoiseAwareCurvature, NoiseAwareVariance, NoiseAwareNone},
			Needs: []Need{{When: []string{NoiseAwareSample, NoiseAwareCurvature}, Setting: "gradient", Not: []string{GradientVanilla}, Rather: GradientAligned,
				Why: "it needs aligned gradients"}},
			Refused: map[string]Mistake{"temper": {"temper is gone", "write variance, or leave it out"}},
			Help:    "how the posterior accounts for the privacy noise", Default: "moments for a normal family with identity link whose predictors are at most 16 columns alone, unless other settings contradict it: it buys second moments of the design and the response, takes a few Newton steps, and draws from the exact prior times the likelihood of the releases; curvature for a mean-field guide: it adds the noise's variance and takes the scales from all steps; else variance, which adds the noise's variance. sample, for a mean-field guide, draws from the exact prior times a likelihood of the released gradients; it is the default of bernoulli, poisson, cumulative and negative_binomial, and of normal with groups, if Table 1 has correlations to 5 %"},
		{Name: "compat", Key: "fit.compat", Group: Price, Kind: Word, Choices: []string{CompatD3P}, Quiet: true,
			Help: "run another package's algorithm; d3p accounts for the sampling that it really does"},

		{Name: "method", Group: Algorithm, Kind: Word, Choices: Methods, Quiet: true,
			Help: "vi fits a guide; nuts, of fit-nonprivate, draws from the posterior itself by the No-U-Turn sampler, reports how far its chains agree, and exits with status 6 if they do not; one_posterior_sample, of fit, releases one draw: of a logistic regression with normal priors exactly, else of a posterior with bounded scores; gibbs_posterior, of fit, draws exactly with one weight for all records; adassp, of fit, releases the least squares of a linear regression with an adaptive ridge and no prior; output_perturbation and objective_perturbation, of fit, release the mode of a logistic regression with normal priors and a ridge, with noise on the mode or on what it minimises", Default: "vi; for fit-nonprivate nuts, if records times operations of a record are at most 2 million, parameters at most 200, the model is no mixture or network, and no setting of the guide or its optimizer is given"},

		{Name: "accept-risk", Heading: "Ledger and risks", Group: Price, Kind: Words,
			Help: "comma-separated names of `RISKS` that you accept; the report records them"},
		{Name: "ledger", Key: "privacy.ledger", Group: Price, Kind: Text, File: true, Quiet: true,
			Help: "ledger `FILE` of the data set; d3p refuses the fit if all its runs together would exceed its limit; a variable or key that is empty is refused"},
		{Name: "model", Heading: "Files", Group: Running, Kind: Text, File: true,
			Help: "model `FILE`", Default: "DATA.yaml beside the data, then ./d3p.yaml"},
		{Name: "out", Group: Running, Kind: Text, File: true,
			Help: "`FOLDER` for the results; must not exist", Default: "d3p-run-NAME-1, -2, ..."},
		{Name: "draws", Key: "output.draws", Group: Running, Kind: Count, Range: atLeast(0), // 0: weights that are points have no draws
			Refused: map[string]Mistake{"1": {"1 draw has no spread to summarise", "take at least 2"}},
			Help:    "number of posterior draws to write", Default: "4000"},
		{Name: "formats", Key: "output.formats", Group: Running, Kind: Words, Choices: append(FormatNames(), FormatsNone),
			Help: "comma-separated formats of the draws", Default: strings.Join(DefaultFormats(), ",") + "; none for more than 500 numbers a draw"},
		{Name: "seed", Group: Running, Kind: Seed,
			Help: "seed of the posterior draws, which is public; it never fixes privacy noise or batches"},
		{Name: "device", Heading: "Machine", Group: Running, Kind: Word, Choices: []string{Auto, DeviceCPU, DeviceCUDA, DeviceCUDAThenCPU}, Indexed: DeviceCUDA,
			Help: "where to run; cuda:N is the N-th CUDA device; cuda,cpu continues on the processor if the card fails, at no further cost", Default: Auto},
		{Name: "max-memory", Group: Running, Kind: Count, Range: atLeast(1),
			Needs: []Need{{Setting: "device", Not: []string{"cpu"}}},
			Help:  "memory of the CUDA device that d3p may use, in MB; d3p sends a larger table in parts", Default: "nine tenths of the free memory"},
		{Name: "precision", Group: Running, Kind: Word, Choices: []string{"float32", "float64"},
			Help: "width of the table's numbers in memory; sums, norms and noise are always float64", Default: "float32"},
		{Name: "table", Group: Running, Kind: Word, Choices: []string{Auto, TableMemory, TableDisk},
			Help: "place of the encoded table: memory, disk (a file without a name beside the private results), or auto: disk if it needs more than half of the free memory", Default: Auto},
		{Name: "repeat", Group: Running, Kind: Count, Range: atLeast(1),
			Help: "number of fits with the same settings and their own noise, side by side; the --ledger is charged for each", Default: "1"},
		{Name: "checkpoint-every", Group: Running, Kind: Count, Range: atLeast(1),
			Help: "seconds between two checkpoints; d3p resume continues a killed fit from the last one", Default: "60"},
		{Name: "threads", Group: Running, Kind: Count, Range: atLeast(1),
			Help: "threads of the CPU engine", Default: "chosen by the work per step"},
	}
}

// Named is the row called name, which must be there.
func Named(name string) Setting {
	for _, row := range Table() {
		if row.Name == name {
			return row
		}
	}
	panic("settings: no setting " + name)
}

const (
	everyRecord = "sampling full takes every record in every step"
	uncounted   = "adaptive clipping is not accounted for under zero_out neighbours: a null record counts as unclipped"
)
