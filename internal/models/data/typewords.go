package data

import "strings"

// TypeHint is what to write for a type name of R, pandas, SQL or Parquet; "" for another word.
func TypeHint(word string) string { return typeHints()[strings.ToLower(word)] }

func typeHints() map[string]string {
	words := make(map[string]string)
	for hint, names := range map[string][]string{
		"write `type: integer, lower: 0` and an upper bound":            {"count", "counts", "uint", "uint8", "uint16", "uint32", "uint64", "natural"},
		"write `type: integer`":                                         {"int", "int8", "int16", "int32", "int64", "bigint", "smallint", "long", "whole"},
		"write `type: real`":                                            {"float", "float32", "float64", "double", "decimal", "number", "numeric", "num", "dbl", "continuous"},
		"write `type: binary, levels: [no, yes]` with the two values":   {"bool", "boolean", "logical", "lgl", "flag", "dichotomous"},
		"write `type: category, levels: [...]` with all its values":     {"factor", "fct", "string", "str", "chr", "char", "character", "varchar", "text", "object", "enum", "nominal", "categorical", "label"},
		"write `type: ordinal, levels: [...]` with its values in order": {"ordered", "ord", "likert", "rank"},
		"write `type: date`, lower and upper as YYYY-MM-DD":             {"datetime", "timestamp", "time", "posixct", "day"},
	} {
		for _, name := range names {
			words[name] = hint
		}
	}
	return words
}
