package run

import (
	"context"
	"errors"

	"d3p/internal/fit"
	"d3p/internal/spell"
	"d3p/internal/status"
)

// Finish ends the stopped fit of r, which Reopen has read, after its last step, and
// releases the result. It reads no record. The ledger of the data set keeps the price of
// those steps and gets the rest of the reservation back.
func (r Run) Finish(ctx context.Context) (*Result, error) {
	spent, err := spentAt(r.checkpoint)
	if err != nil {
		return nil, err
	}
	if why := r.unfinishable(); why != "" {
		return nil, status.Usagef("%s: %s (type d3p resume %s)", r.folder.path, why, spell.Word(r.folder.path))
	}
	released, err := r.Job.compile(r.Plan.Settled())
	if err != nil {
		return nil, err
	}
	result, err := fit.Finish(ctx, *r.checkpoint, r.Model, spent)
	if err != nil {
		return nil, status.With(status.Usage, err)
	}
	// A copy of the folder that is resumed finds that the run went on in this one.
	if err := errors.Join(r.folder.write(jobFile, r.Job), r.folder.write(ledgerFile, spent)); err != nil {
		return nil, err
	}
	if err := r.Job.reservation().settleFor(spent, r.Job.Attempts); err != nil {
		return nil, err
	}
	return r.release(released, &result)
}

// CanFinish reports whether Finish takes the fit.
func (r Run) CanFinish() bool { return r.unfinishable() == "" }

// unfinishable is why a stopped fit has no result that Finish could release; "" if it has one.
func (r Run) unfinishable() string {
	switch steps := r.checkpoint.State.Step; {
	case len(r.checkpoint.Sample) > 0, r.Plan.Private && steps >= r.Plan.Steps:
		return "every step of this fit is taken"
	case !r.Plan.Private:
		return "a fit without privacy has no price to save"
	case steps == 0:
		return "no step was taken"
	}
	return ""
}
