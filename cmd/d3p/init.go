package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"d3p/internal/models/spec"
)

func newInit(a *app) *cobra.Command {
	var codebook string
	var known spec.Known
	c := &cobra.Command{
		Use:   "init DATA | --from CODEBOOK",
		Short: "Write a model file skeleton from the header line alone",
		Long: `Init prints a model file for the columns of a CSV or Parquet file. You fill the
blanks from public knowledge about the columns. Init reads the column names from a
file, or from - for standard input, and no row: bounds, levels and scales taken
from the data would cost privacy.

--from fills in a public codebook: a CSV file with one line per column of the data
and the columns name, type, lower, upper, levels (a|b|c), center, by, transform,
unknown, source and label. All but name are optional. Types may be the codebook's
own words, such as categorical, numeric or logical.

--entity, --records, --formula and --family fill in their values. With --formula the
file declares only the columns that the formula names.`,
		Example: `  d3p init cohort.csv > cohort.yaml
  d3p init --from codebook.csv > cohort.yaml
  d3p init --from codebook.csv --entity patient --records 4000 --twin > twin.yaml
  d3p init --from codebook.csv --entity patient --records 4000 --formula 'died30 ~ age + sex' --family bernoulli > cohort.yaml`,
		Args: func(c *cobra.Command, args []string) error {
			if codebook != "" && len(args) > 0 {
				return usagef("d3p init: %s: the columns are those of --from %s; give one of the two", args[0], codebook)
			}
			if codebook != "" {
				return nil
			}
			return exactly("DATA")(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if known.Records < 0 {
				return usagef("--records: %d is not positive", known.Records)
			}
			if known.Twin && known.Formula != "" {
				return usagef("--twin: a model of whole records has no --formula; give one of the two")
			}
			if codebook != "" {
				return a.initFrom(codebook, known)
			}
			if known.Encoding != "" {
				if err := checkWords("--encoding", []string{known.Encoding}, spec.Encodings()); err != nil {
					return err
				}
			}
			header, separator, err := readHeader(args[0], known.Encoding)
			if err != nil {
				return failWith(statusData, err)
			}
			known.Semicolons = separator == ';'
			text := spec.Skeleton(header, known)
			return a.result(map[string]any{"columns": header, "model": string(text)}, func(w io.Writer) { w.Write(text) })
		},
	}
	f := c.Flags()
	f.StringVar(&codebook, "from", "", "public `CODEBOOK` (CSV) to take the declarations from, instead of a data file")
	f.StringVar(&known.Entity, "entity", "", "what one protected `UNIT` is: patient, person, household")
	f.IntVar(&known.Records, "records", 0, "public number of units")
	f.StringVar(&known.Encoding, "encoding", "", "how the letters of the file are written: "+strings.Join(spec.Encodings(), ", "))
	completeWords(c, "encoding", spec.Encodings())
	f.StringVar(&known.Formula, "formula", "", "the model's formula")
	f.BoolVar(&known.Twin, "twin", false, "a model of whole records, for synthetic tables, instead of a formula")
	f.StringVar(&known.Family, "family", "", "the response's family: bernoulli, normal, poisson, ...")
	return c
}
