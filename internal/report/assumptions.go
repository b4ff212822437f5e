package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/sampler"
)

// assumptions lists the assumptions of the claim, and whether each holds for this run: by
// construction, by the custodian's word, or not.
func (r *Run) assumptions() []Assumption {
	unit := r.Spec.Data.Unit
	list := []Assumption{
		{"declared-constants", "no bound, scale, level or category comes from the records" + r.exceptBought(), Declared,
			"the model file declares them; values outside are clamped, unknown levels follow the declared rule"},
		{"one-row-per-unit", fmt.Sprintf("a %s has at most %d row", r.entity(), unit.RowsPerUnit.Or(1)), Declared,
			"the program does not look for a second row of the same " + r.entity()},
	}
	if unit.ID.IsSet() {
		list[1] = Assumption{"bounded-rows", fmt.Sprintf("a %s contributes at most %d rows", r.entity(), unit.RowsPerUnit.Or(1)), Holds,
			"d3p groups rows by their id and keeps at most that number: " + keptRows(unit)}
		list = append(list, Assumption{"one-id", fmt.Sprintf("the rows of a %s carry one id, and no others carry it", r.entity()), Declared,
			"ids are compared as text; rows without one are left out"})
	}
	if !r.Plan.Private {
		return append(list, Assumption{"noise", "every release is clipped and noisy", Fails, "this run used neither clipping nor noise"})
	}
	list = append(append(list, r.bounded()...),
		Assumption{"batches", fmt.Sprintf("batches are drawn as accounted: %s, %s", r.Plan.Sampling, Sampler{Rate: r.Plan.SamplingRate, Schedule: r.Plan.BatchSchedule}.rateWords()), Holds,
			"the sampler that draws a batch states the event that is accounted"},
		Assumption{"relation", fmt.Sprintf("the accounting is valid for %s neighbours under this sampler", RelationWords(r.Plan.Neighbours)), Holds,
			"a sampler without accounting for the relation is refused before any data is read"},
		Assumption{"public-scale", "sums are scaled by public numbers", Holds,
			"sampling rate times the declared number of records, never the size of a batch"},
		Assumption{"adaptive-composition", "every step may depend on all earlier releases", Holds,
			"composition of the accountant is adaptive; every iterate is covered"},
	)
	if files := slices.Sorted(maps.Keys(r.Spec.Public)); len(files) > 0 {
		list = append(list, Assumption{"public-files", "the files that the model file names hold nothing of the records", Declared,
			strings.Join(files, ", ") + "; copies are in public/ of the release"})
	}
	noise := Assumption{"secret-noise", "the noise and the batches are secret and unpredictable", Holds,
		"keys of 256 bits from the operating system, never written to a file; AES-256 makes the bits, and no attack on it is known"}
	if r.Plan.Batches == sampler.Feistel {
		list = append(list, Assumption{"feistel-batches", "nobody tells the batches from uniform ones of the same sizes", Declared,
			fmt.Sprintf("each is drawn by a Feistel network of at least %d rounds whose functions are AES-256 under a secret key; no attack on it is known, and none is proven impossible", sampler.LeastRounds)})
	}
	if r.Insecure {
		noise.Status, noise.Evidence = Fails, "the noise was fixed by --insecure-noise-seed and can be subtracted"
	}
	if planned := r.Plan.Planned; planned != nil {
		list = append(list, Assumption{"end-decided-blindly", "the decision to end the fit early did not depend on its iterates", Declared,
			fmt.Sprintf("a fit in progress shows its step and price only; without this assumption the price is that of all %d planned steps, epsilon %s", planned.Iterations, Upward(planned.Epsilon))})
	}
	if r.Tool.Processes > 1 {
		list = append(list, Assumption{"trusted-processes", "a reader of the processes' memory or messages may see the records", Declared,
			fmt.Sprintf("%d processes each held a part of the records, and sent sums of clipped gradients to the first without encryption; it added the noise", r.Tool.Processes)})
	}
	if r.Plan.Selection != nil {
		list = append(list, Assumption{"secret-trials", "nobody outside learns the selection's number of trials, for example from its duration", Declared,
			"no file of the release and no message depends on it; run time does"})
	}
	return append(list, noise,
		Assumption{"floating-point", "released numbers do not betray exact sums by their last bits", Holds,
			"they are rounded to a public lattice that does not depend on the records"},
		Assumption{"no-tuning", "settings were not chosen by looking at other results from the same records", Unknown,
			"a release does not show this; d3p plan and simulated data need no records"},
		r.otherReleases(),
	)
}

// bounded is the bound on one unit's contribution to a release.
func (r *Run) bounded() []Assumption {
	if r.Plan.Clipping == plan.ClippingCounts {
		return []Assumption{{"bounded-counts", "one unit has a weight of at most 1 in each table of counts", Holds,
			"a row of a unit with k rows counts 1/k, rounded down, in one cell of each table; the noise of a release covers all its tables together"}}
	}
	if one := releasesOnce(r.Plan.Clipping); one != nil {
		return one.assumptions
	}
	return []Assumption{{"bounded-gradients", "one unit contributes at most the clip norm to a released sum", Holds,
		"the whole gradient of a record is clipped in L2 norm before it is added; one that is not finite counts as zero"}}
}

// otherReleases is the assumption about other releases from the same records.
func (r *Run) otherReleases() Assumption {
	if r.Booked == nil {
		return Assumption{"one-release", "no other release from the same records is added", Unknown,
			"every further run adds to what an attacker learns; ask the custodian for the ledger"}
	}
	return Assumption{"whole-ledger", "every release from the same records is in the ledger, and none was decided on by looking at earlier ones", Declared,
		"all runs of ledger " + r.Booked.LedgerID + " are priced together in section 4; a run is refused before it reads records when they would exceed the limit"}
}
