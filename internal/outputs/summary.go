package outputs

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/fit/plan"
	"d3p/internal/nuts"
	"d3p/internal/release"
	"d3p/internal/stats"
)

// SummaryName is the file of the summaries.
const SummaryName = "summary.csv"

// Summary describes the draws of one variable. Names and definitions are those
// of the R package posterior (summarise_draws).
type Summary struct {
	Variable   string   `json:"variable"`
	Mean       float64  `json:"mean"`
	Median     float64  `json:"median"`
	SD         float64  `json:"sd"`
	MAD        float64  `json:"mad"` // times 1.4826, as R does
	Q5         float64  `json:"q5"`
	Q25        float64  `json:"q25"`
	Q75        float64  `json:"q75"`
	Q95        float64  `json:"q95"`
	MCSEMean   float64  `json:"mcse_mean"` // Monte Carlo standard errors
	MCSESD     float64  `json:"mcse_sd"`
	NoiseShare *float64 `json:"dp_noise_share"`
	*Verdict            // nil without a verdict
	// Chains is the agreement of a sampler's chains; nil for independent draws.
	Chains *nuts.Diagnosis `json:"chains,omitempty"`
	draws  int             // of all chains
	// Lower and Upper are the ends of the interval requested from Draws.Bound; nil without
	// a request.
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
}

// Summarise returns the summary of every variable.
func (d Draws) Summarise() []Summary {
	out := make([]Summary, len(d.Variables))
	sorted := make([]float64, d.S)
	for v := range out {
		x := d.Of(v)
		copy(sorted, x)
		slices.Sort(sorted)
		out[v] = summarise(d.Variables[v], x, sorted)
		if d.Chains > 0 {
			out[v].diagnose(x, d.Chains)
		}
	}
	return out
}

// Bound sets the ends of central intervals with probability prob, between 0 and 1,
// in rows, the summary of every variable.
func (d Draws) Bound(rows []Summary, prob float64) {
	for v := range rows {
		lower, upper := stats.Central(slices.Sorted(slices.Values(d.Of(v))), prob)
		rows[v].Lower, rows[v].Upper = &lower, &upper
	}
}

func summarise(variable Variable, x, sorted []float64) Summary {
	n := float64(len(x))
	var mean, m2, m4 float64
	for _, xi := range x {
		mean += xi / n
	}
	if sorted[0] == sorted[len(sorted)-1] { // of a point; the sum is rounded
		mean = sorted[0]
	}
	for _, xi := range x {
		square := (xi - mean) * (xi - mean)
		m2 += square / n
		m4 += square * square / n
	}
	s := Summary{
		Variable: variable.Name, Mean: mean, SD: math.Sqrt(m2 * n / (n - 1)),
		Median: stats.Quantile(sorted, 0.5), Q5: stats.Quantile(sorted, 0.05), Q25: stats.Quantile(sorted, 0.25), Q75: stats.Quantile(sorted, 0.75), Q95: stats.Quantile(sorted, 0.95),
		NoiseShare: variable.NoiseShare, Verdict: variable.Verdict,
	}
	deviation := make([]float64, len(x))
	for i, xi := range x {
		deviation[i] = math.Abs(xi - s.Median)
	}
	slices.Sort(deviation)
	s.MAD = 1.4826 * stats.Quantile(deviation, 0.5)
	s.MCSEMean = s.SD / math.Sqrt(n)
	if m2 > 0 {
		s.MCSESD = math.Sqrt(max(0, m4-m2*m2) / n / m2 / 4) // of two draws the difference is rounding
	}
	return s
}

// SummaryFile is summary.csv.
func SummaryFile(rows []Summary, banner string) release.File {
	return release.File{Name: SummaryName, Covered: true, Write: func(w io.Writer) error {
		out := csv.NewWriter(w)
		header := []string{"variable", "mean", "median", "sd", "mad", "q5", "q95", "mcse_mean", "mcse_sd", "dp_noise_share"}
		chains := len(rows) > 0 && rows[0].Chains != nil
		if chains {
			header = append(header, chainHeader...)
		}
		judged := len(rows) > 0 && rows[0].Verdict != nil
		if judged {
			header = append(header, "verdict", "why")
		}
		if banner != "" {
			header = append(header, "privacy")
		}
		out.Write(header)
		for _, r := range rows {
			line := []string{r.Variable}
			for _, x := range []float64{r.Mean, r.Median, r.SD, r.MAD, r.Q5, r.Q95, r.MCSEMean, r.MCSESD} {
				line = append(line, formatCell(x))
			}
			share := ""
			if r.NoiseShare != nil {
				share = formatCell(*r.NoiseShare)
			}
			line = append(line, share)
			if chains {
				line = append(line, formatCell(r.Chains.RHat), formatCell(r.Chains.BulkESS), formatCell(r.Chains.TailESS))
			}
			if judged {
				line = append(line, r.Verdict.Value, r.Why)
			}
			if banner != "" {
				line = append(line, banner)
			}
			out.Write(line)
		}
		out.Flush()
		return out.Error()
	}}
}

// diagnose compares the chains that the draws x come from. Their Monte Carlo errors
// follow from the effective number of draws.
func (s *Summary) diagnose(x []float64, chains int) {
	n := len(x) / chains
	split := slices.Collect(slices.Chunk(x, n))
	d := nuts.Diagnose(split)
	s.Chains, s.draws = &d, len(x)
	if d.BulkESS > 0 {
		s.MCSEMean *= math.Sqrt(float64(len(x)) / d.BulkESS)
	}
	if size := nuts.SquareESS(split, s.Mean); size > 0 {
		s.MCSESD *= math.Sqrt(float64(len(x)) / size)
	}
}

// Agreement is an error that names the variables whose chains disagree or have too few
// effective draws, or reports that too many trajectories diverged; nil if all are good,
// or without chains. With chance, few draws may miss the limits as those of good chains do.
func Agreement(rows []Summary, divergences int, chance bool) error {
	var bad []string
	if float64(divergences) > nuts.MostDivergent*plan.Chains*plan.Kept {
		bad = append(bad, fmt.Sprintf("%d trajectories diverged", divergences))
	}
	for _, r := range rows {
		n := math.Inf(1)
		if chance {
			n = float64(r.draws)
		}
		rHat, ess := nuts.Limits(n)
		if c := r.Chains; c != nil && (c.RHat > rHat || c.BulkESS < ess) {
			bad = append(bad, fmt.Sprintf("%s (R-hat %.3g, %.0f effective draws)", r.Variable, c.RHat, c.BulkESS))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	const shown = 5
	more := ""
	if len(bad) > shown {
		more = fmt.Sprintf(" and %d more", len(bad)-shown)
		bad = bad[:shown]
	}
	return fmt.Errorf("the chains do not agree: %s%s", strings.Join(bad, ", "), more)
}

// chainHeader names the columns of summary.csv for draws from chains, as R's package
// posterior does.
var chainHeader = []string{"rhat", "ess_bulk", "ess_tail"}

func formatCell(x float64) string {
	return strconv.FormatFloat(x, 'g', 8, 64)
}
