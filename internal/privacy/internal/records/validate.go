package records

import (
	"fmt"
	"math"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
)

// validate checks that an encoding can be executed: no encoded column is written
// by two fields, and every constant makes sense. A column that no field writes
// is zero. The model compiler guarantees this; the check keeps a mistake there
// from becoming a wrong fit.
func validate(e encoding.Encoding) error {
	if e.Decimal != "" && e.Decimal != "." && e.Decimal != "," {
		return fmt.Errorf("records: decimal %q is neither a point nor a comma", e.Decimal)
	}
	writers := make([]int, e.K)
	for _, f := range e.Fields {
		if err := validateField(f); err != nil {
			return fmt.Errorf("records: encoding of column %s: %w", f.Column, err)
		}
		for _, out := range f.Out {
			if out >= e.K {
				return fmt.Errorf("records: encoding of column %s: writes column %d of %d", f.Column, out, e.K)
			}
			if out >= 0 {
				writers[out]++
			}
		}
	}
	for k, n := range writers {
		if n > 1 {
			return fmt.Errorf("records: encoded column %d is written by %d fields", k, n)
		}
	}
	return validateUnits(e)
}

func validateField(f encoding.Field) error {
	if f.Transform != "" && data.TransformNamed(f.Transform) == nil {
		return fmt.Errorf("unknown transform %q", f.Transform)
	}
	if f.Lower != nil && f.Upper != nil && !(*f.Lower < *f.Upper) {
		return fmt.Errorf("lower bound %g is not below upper bound %g", *f.Lower, *f.Upper)
	}
	if f.Scale < 0 || math.IsNaN(f.Scale) {
		return fmt.Errorf("scale %g is not positive", f.Scale)
	}
	want := 1
	switch f.Kind {
	case encoding.Numeric, encoding.Quantile, encoding.MissingIndicator, encoding.LevelCode:
	case encoding.Tokens:
		want = max(1, len(f.Out))
	case encoding.OneHot:
		want = len(f.Levels)
	default:
		return fmt.Errorf("unknown kind %q", f.Kind)
	}
	levels := f.Kind == encoding.LevelCode || f.Kind == encoding.OneHot
	if len(f.Out) != want || !levels && f.Out[0] < 0 {
		return fmt.Errorf("writes columns %v, want %d", f.Out, want)
	}
	if levels {
		if f.Unknown >= len(f.Levels) {
			return fmt.Errorf("unknown levels become level %d of %d", f.Unknown, len(f.Levels))
		}
		lowest := 0.0
		if f.Kind == encoding.OneHot {
			lowest = -1
		}
		if f.Missing == encoding.MissingImpute && (f.Impute < lowest || f.Impute >= float64(len(f.Levels))) {
			return fmt.Errorf("missing values become level %g of %d", f.Impute, len(f.Levels))
		}
	}
	if f.Kind == encoding.Numeric && f.Missing == encoding.MissingImpute {
		if v := resolve(f).imputed; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("imputed constant %g does not transform to a number", f.Impute)
		}
	}
	return nil
}
