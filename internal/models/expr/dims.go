package expr

// SplitDims takes a prior apart: `normal(0, 1) [k, d]` is the distribution
// normal(0, 1) and the dims k and d. Without brackets there are no dims.
func SplitDims(e Expr) (distribution Expr, dims []*Name, errs Errors) {
	index, ok := e.(*Index)
	if !ok {
		return e, nil, nil
	}
	for _, i := range index.Indices {
		switch i := i.(type) {
		case *Name:
			dims = append(dims, i)
		case *Text:
			errs.Add(i.At, "write it without quotes", "%s is a label where a dim is expected", i)
		default:
			errs.Add(i.Pos(), "declare it under dims:", "%s is not the name of a dim", i)
		}
	}
	return index.X, dims, errs
}
