package expr

// mixing lists functions of other languages whose value in one record depends on other
// records, with the reason and a replacement. Under differential privacy each record's
// gradient is clipped alone, which is valid only if its log density does not depend on
// other records.
var mixing = []struct{ name, why, instead string }{
	{"batch_norm", "it normalises with the mean of the batch", "use layer_norm or group_norm, or scale: in the data block"},
	{"lag", "it reads an earlier record", "make the earlier value a column of the same record, or declare a unit with several rows"},
	{"lead", "it reads a later record", "make the later value a column of the same record"},
	{"diff", "it reads an earlier record", "make the difference a column of the same record"},
	{"rank", "it orders all records", "use a declared transform: in the data block"},
	{"median", "it orders all records", "use a declared constant"},
	{"quantile", "it orders all records", "use declared knots or bounds"},
	{"sd", "it is a statistic of all records", "use scale: {center, by} in the data block"},
	{"std", "it is a statistic of all records", "use scale: {center, by} in the data block"},
	{"var", "it is a statistic of all records", "use scale: {center, by} in the data block"},
	{"count", "it counts records", "use the declared rows:"},
	{"nrow", "it counts records", "use the declared rows:"},
	{"standardize", "it uses the mean and sd of all records", "use scale: {center, by} in the data block"},
	{"standardise", "it uses the mean and sd of all records", "use scale: {center, by} in the data block"},
	{"zscore", "it uses the mean and sd of all records", "use scale: {center, by} in the data block"},
	{"cox", "its partial likelihood compares a record with all at risk", "use weibull with censored(), or a piecewise exponential"},
	{"coxph", "its partial likelihood compares a record with all at risk", "use weibull with censored(), or a piecewise exponential"},
}

// mixes reports a call that would mix records; ok is false for other calls.
func (l *lowering) mixes(c *Call) bool {
	for _, m := range mixing {
		if m.name == c.Func {
			l.fail(c.At, m.instead, "%s mixes records: %s, so no record's gradient has a bound", c.Func, m.why)
			return true
		}
	}
	return false
}

// overRecords reports a reduction over the records alone.
func (l *lowering) overRecords(c *Call, what Expr) {
	l.fail(c.At, "inside one record it has nothing to reduce; name a dim with over=, or use a declared constant",
		"%s(%s) would mix records: %s has no dim but the records", c.Func, what, what)
}
