package report

import (
	"fmt"
	"io"
	"strings"

	"d3p/internal/decimal"
	"d3p/internal/fit/plan"
	"d3p/internal/models/guide"
	"d3p/internal/models/spec"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/settings"
)

// methodsFile is the text for the methods section of a paper, a line for each paragraph,
// with references.
func methodsFile(p *Privacy, f Findings, s *spec.Spec) release.File {
	return release.File{Name: "methods.txt", Covered: true, Write: func(w io.Writer) error {
		paragraphs := []string{methodsModel(p, s), methodsInference(p, f)}
		if p.Guarantee == nil {
			paragraphs = append(paragraphs, p.Statements.Paragraph+".")
		} else {
			paragraphs = append(paragraphs, methodsPrivacy(p), p.Statements.Odds)
		}
		paragraphs = append(paragraphs, methodsSoftware(p))
		paragraphs = append(paragraphs, strings.Join(methodsReferences(strings.Join(paragraphs, " ")), "\n"))
		_, err := io.WriteString(w, strings.Join(paragraphs, "\n\n")+"\n")
		return err
	}}
}

// methodsModel describes the model.
func methodsModel(p *Privacy, s *spec.Spec) string {
	priors := " Bounds, levels and scales of all columns were declared before the data were read."
	if len(p.Mechanism.Bounds)+len(p.Mechanism.Levels) > 0 {
		priors = " Bounds, levels and scales of all columns were declared before the data were read, or bought by noisy counts within the stated budget."
	}
	m := s.Model
	if p.Mechanism.Clip.Mode == plan.ClippingCounts {
		return "The columns of the synthetic table, their bins and the rules that its records keep are given in full in the file spec.lock.yaml of the release." + priors
	}
	if m == nil {
		return "The model and its priors are given in full in the file spec.lock.yaml of the release." + priors
	}
	var list []string
	for _, d := range m.Priors {
		list = append(list, d.Name.V+" ~ "+d.Text.V)
	}
	text := fmt.Sprintf("We fitted a Bayesian regression model, %s, of the family %s with link %s", m.Formula.V, m.Family.V, m.LinkName())
	if len(list) > 0 {
		text += ". The priors, for coefficients on the declared scales, were " + strings.Join(list, ", ")
	}
	return text + "." + priors
}

// familyWords describe the guide of the fit, and the released posterior.
func familyWords(f Findings) string {
	name := func(guide string) string { return strings.ReplaceAll(guide, "_", "-") }
	switch {
	case f.Guide == guide.SampleName:
		return fmt.Sprintf("the fit moved a guide of the family %s, and the released draws were made by the No-U-Turn sampler (Hoffman and Gelman 2014) from the prior times a likelihood of the noisy sums of all steps", name(f.Fitted))
	case f.Fitted == "" || f.Fitted == f.Guide:
		return "the approximation is of the family " + name(f.Guide)
	}
	return fmt.Sprintf("the fit moved a guide of the family %s, and the released approximation, made from all steps together, is of the family %s", name(f.Fitted), name(f.Guide))
}

// methodsInference describes the approximation of the posterior.
func methodsInference(p *Privacy, f Findings) string {
	m := &p.Mechanism
	switch {
	case p.Guarantee == nil && f.Guide == guide.SampleName:
		return fmt.Sprintf("The posterior was sampled by the No-U-Turn sampler (Hoffman and Gelman 2014) in %d iterations.", m.Iterations)
	case p.Guarantee == nil:
		return fmt.Sprintf("The posterior was approximated by variational inference (Kucukelbir et al. 2017) in %d steps; %s.", m.Iterations, familyWords(f))
	}
	if one := releasesOnce(m.Clip.Mode); one != nil {
		return strings.ReplaceAll(one.methods, "UNIT", p.Unit.Entity)
	}
	if m.Clip.Mode == plan.ClippingCounts {
		return "Noisy counts of the cells of single columns, pairs and triples were released by the Gaussian mechanism (Dwork and Roth 2014), sets of columns being chosen by the counts released before (compare McKenna et al. 2022). A distribution of the exponential family was fitted to all of them, and the synthetic records are draws from it. Within a bin a number does not depend on the other columns."
	}
	text := fmt.Sprintf("The posterior was approximated by differentially private variational inference (Jälkö et al. 2017); %s, on the scale without constraints. ", familyWords(f))
	if m.Clip.Mode == plan.ClippingByMoments {
		text = "The posterior was sampled by the No-U-Turn sampler (Hoffman and Gelman 2014) from the prior times the likelihood of all noisy sums that were released (compare Bernstein and Sheldon 2019): second moments of the design and the response, and a gradient at each of the steps, which were Newton steps. "
	}
	if m.Purchase != nil {
		text += fmt.Sprintf("Before the first step, noisy counts of the columns' values were bought with %.2g of the squared budget in μ. ", m.Purchase.Share)
	}
	text += fmt.Sprintf("In each of %d steps the gradient of every %s in a batch was clipped in L2 norm (%s), the clipped gradients were added, "+
		"and Gaussian noise was added to the sum (Abadi et al. 2016), with %s. ", m.Iterations, p.Unit.Entity, clipWords(m.Clip), m.noiseWords(6))
	if m.Sampler.Rate == 1 {
		text += "Every step used all records. "
	} else {
		text += fmt.Sprintf("Batches were drawn by the scheme %s at %s. ", m.Sampler.Scheme, m.Sampler.rateWords())
	}
	if m.Surprisals != nil {
		text += "After the last step, noisy counts of the records by the log of their likelihood, and by how far out their predictors are, were bought. "
	}
	if m.DesignEffects != nil {
		text += fmt.Sprintf("Noisy squares of the gradients of each %s were bought, too; intervals are as wide as these say, whether rows of one %s are alike or not (design effects, Kish 1965; Liang and Zeger 1986). ", p.Unit.Entity, p.Unit.Entity)
	}
	if len(p.Utility.NoiseShare) > 0 {
		text += "Posterior intervals include the variance of the privacy noise."
	}
	return strings.TrimSpace(text)
}

// clipWords describe how gradients were clipped.
func clipWords(c Clip) string {
	if c.Groups != nil {
		return fmt.Sprintf("%s, shared by %d groups of parameters that were clipped separately", normWords(c), len(c.Groups))
	}
	return normWords(c)
}

func normWords(c Clip) string {
	if c.Mode == plan.ClippingByMoments {
		return "at a norm that follows from earlier releases"
	}
	if c.Schedule != nil {
		least, most := c.Schedule.Range()
		return fmt.Sprintf("at norms from %.4g to %.4g by a public schedule", least*c.Norm, most*c.Norm)
	}
	if c.Bound > 0 && c.Norm >= c.Bound {
		return fmt.Sprintf("at norm %.4g, which no gradient exceeds", c.Norm)
	}
	if c.Mode == settings.ClippingFlat {
		return fmt.Sprintf("at norm %.4g", c.Norm)
	}
	return fmt.Sprintf("%s clipping, from norm %.4g", c.Mode, c.Norm)
}

// methodsPrivacy states the guarantee, and its limits.
func methodsPrivacy(p *Privacy) string {
	unit := "one " + p.Unit.Entity
	if p.Unit.RowsPerUnit > 1 {
		unit += fmt.Sprintf(", of whom at most %d rows were used", p.Unit.RowsPerUnit)
	}
	text := fmt.Sprintf("The release satisfies (ε = %s, δ = %s)-differential privacy (Dwork and Roth 2014) with %s neighbours, where the protected unit is %s. Sums were scaled by the declared number of units, %d. "+
		"The price of all steps together was computed as a certified bound: ε lies %s. The guarantee covers every iterate of the fit and all that is computed from the release. "+
		"It does not count a choice of model or settings by the results of other fits to the same records",
		Upward(p.Guarantee.Epsilon), decimal.Up(p.Guarantee.Delta, 3), RelationWords(event.Relation(p.Neighbours.Relation)), unit, p.Neighbours.NPublic,
		between(p.Accounting.EpsilonLower, p.Accounting.EpsilonUpper))
	if l := p.Budget; l != nil && l.Before.Runs > 0 {
		return text + fmt.Sprintf(". The custodian keeps a ledger of the data set. With %s on the data set %s, ε is at most %s of a limit of %g at δ = %s.",
			OtherRuns(l.Before.Runs), l.Dataset, Upward(l.After), l.Limit.Epsilon, decimal.Up(l.Limit.Delta, 3))
	}
	return text + ", nor later releases from them."
}

// methodsSoftware names the software and how others can check the result.
func methodsSoftware(p *Privacy) string {
	version := p.Tool.Version
	if p.Tool.Commit != "" {
		version += ", commit " + p.Tool.Commit
	}
	return fmt.Sprintf("Computations were done with d3p (version %s) on %s. The release, with the model, every setting and the privacy event in the form of Google's dp_accounting, is [WHERE]; d3p verify checks it. SHA-256 of the model file: %s.",
		version, p.CreatedAt[:min(len("2006-01-02"), len(p.CreatedAt))], p.Subject.SpecSHA256)
}

// references are the references that a paragraph may cite, with their full text.
var references = []struct{ cited, text string }{
	{"Abadi", "Abadi M, Chu A, Goodfellow I, McMahan HB, Mironov I, Talwar K, Zhang L. Deep learning with differential privacy. CCS 2016. arXiv:1607.00133."},
	{"Bernstein and Sheldon", "Bernstein G, Sheldon D. Differentially private Bayesian linear regression. NeurIPS 2019. arXiv:1910.13153."},
	{"Dwork and Roth", "Dwork C, Roth A. The algorithmic foundations of differential privacy. Foundations and Trends in Theoretical Computer Science 9(3-4), 2014."},
	{"McKenna", "McKenna R, Mullins B, Sheldon D, Miklau G. AIM: an adaptive and iterative mechanism for differentially private synthetic data. PVLDB 15(11), 2022. arXiv:2201.12677."},
	{"Gopi", "Gopi S, Lee YT, Liu D. Private convex optimization via exponential mechanism. COLT 2022. arXiv:2203.00263."},
	{"Hoffman and Gelman", "Hoffman MD, Gelman A. The No-U-Turn sampler: adaptively setting path lengths in Hamiltonian Monte Carlo. JMLR 15(47), 2014. arXiv:1111.4246."},
	{"Jälkö", "Jälkö J, Dikmen O, Honkela A. Differentially private variational inference for non-conjugate models. UAI 2017. arXiv:1610.08749."},
	{"Kucukelbir", "Kucukelbir A, Tran D, Ranganath R, Gelman A, Blei DM. Automatic differentiation variational inference. JMLR 18(14), 2017. arXiv:1603.00788."},
}

// methodsReferences are the references that a text cites.
func methodsReferences(text string) (list []string) {
	for _, r := range references {
		if strings.Contains(text, r.cited) {
			list = append(list, r.text)
		}
	}
	return list
}
