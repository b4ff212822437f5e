package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/released"
	"d3p/internal/onnx"
	"d3p/internal/outputs"
	"d3p/internal/predict/forward"
	"d3p/internal/release"
	"d3p/internal/safetensors"
	"d3p/internal/settings"
	"d3p/internal/spell"
	"d3p/internal/status"
)

// These commands write a posterior for other programs: its draws and its predictions.

func newDraws(a *app) *cobra.Command {
	var format, out string
	var asked released.Drawn
	c := &cobra.Command{
		Use:   "draws RUN",
		Short: "Write posterior draws in the format of another tool",
		Long: `Draws writes draws from the released posterior to stdout, or to --out:

  csv      a row per draw; R: as_draws_df(read.csv(FILE, check.names = FALSE))
  long     a row per draw and variable: .draw, variable, value
  stan     CmdStan's variational output; cmdstanpy: from_csv(FILE)
  parquet  pandas, polars, DuckDB, arrow
  zarr     a folder (needs --out) with ArviZ groups: az.from_zarr(OUT/idata.zarr)

It needs the release only and costs no privacy. The lp__ columns of stan are zero:
the log density of a draw is a function of the records, and no budget paid for it.`,
		Example: "  d3p draws d3p-run-cohort-1 --format csv > draws.csv\n  d3p draws d3p-run-cohort-1 --out draws.parquet\n  d3p draws d3p-run-cohort-1 --format zarr --out arviz",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("format") {
				format = outfile.Format(out, format, settings.FormatNames())
			}
			if err := flags.CheckWords("--format", []string{format}, settings.FormatNames()); err != nil {
				return err
			}
			if format == settings.FormatZarr && out == "" {
				return status.Usagef("--format zarr: it is a folder, name one with --out")
			}
			r, err := a.releases.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			if outputs.PointScalars(r.Model) == r.Model.P {
				return status.Usagef("%s: the posterior is a point and has no draws; its weights are in %s", args[0], outputs.WeightsName)
			}
			take, err := asked.OrOf(c, r)
			if err != nil {
				return err
			}
			sample, err := r.Sample(take)
			if err != nil {
				return err
			}
			return a.writeFiles(sample.Files([]string{format}), format == settings.FormatZarr, out)
		},
	}
	c.Flags().StringVar(&format, "format", "csv", "one of "+strings.Join(settings.FormatNames(), ", ")+"; left out, as --out ends")
	flags.CompleteWords(c, "format", settings.FormatNames())
	c.Flags().StringVar(&out, "out", "", "`FILE` to write (default stdout); for zarr a new folder")
	asked.Flags(c)
	a.unverifiedFlag(c)
	return c
}

func newExport(a *app) *cobra.Command {
	var out, net string
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write a fitted network for other programs, as ONNX",
		Long: `Export writes what predict computes as a file of ONNX (IR 8, operator set 17,
float32), for ONNX Runtime, browsers and phones. It needs a posterior that is a
point, as networks have by default.

Inputs are the columns and tensors of a data file under their names, in its units:
bounds, scales and imputation are in the graph. A category is the number of its
level from 0 (-1 is missing), a text its tokens; the metadata list both
(d3p.levels.NAME) and have the privacy claim. Outputs are the expected responses, or
the probabilities of all levels. A row without a needed value gets NaN.

--net writes one network alone, such as the decoder of an auto-encoder. Its input are
the values that its first layer sees, on their scale; it has an output for each head.

It needs the release only and costs no privacy.`,
		Example: "  d3p export d3p-run-ring-1 --out ring.onnx\n  d3p export d3p-run-mnist_vae-1 --net decoder --out decoder.onnx",
		Args:    exactly("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := a.releases.Read(c.Context(), args[0])
			if err != nil {
				return err
			}
			if !r.Point() {
				return status.Usagef("%s: its posterior has a spread, and a file of ONNX holds one set of parameters (d3p predict averages over draws, d3p draws writes them)", args[0])
			}
			m, err := onnxOf(r, net)
			if err != nil {
				return status.Usagef("%s: %w", args[0], err)
			}
			m.Metadata["d3p.run_id"], m.Metadata[safetensors.PrivacyKey] = r.Privacy.ReportID, r.Privacy.Statements.OneLine
			file := release.File{Name: "model.onnx", Write: func(w io.Writer) error {
				_, err := w.Write(m.Bytes())
				return err
			}}
			return a.writeFiles([]release.File{file}, false, out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "`FILE` to write (default stdout)")
	c.Flags().StringVar(&net, "net", "", "the `NAME` of a network to write alone (default the predictions)")
	a.unverifiedFlag(c)
	return c
}

// onnxOf writes the predictions of a release, or one of its networks, as ONNX.
func onnxOf(r *released.Release, net string) (*onnx.Model, error) {
	theta, producer := r.Posterior.Mean, "d3p "+r.Privacy.Tool.Version
	if net == "" {
		m, err := forward.Model(r.Model, theta, producer)
		if errors.Is(err, forward.ErrLatent) {
			err = fmt.Errorf("%w (--net writes one of its networks: %s)", err, strings.Join(netNames(r), ", "))
		}
		return m, err
	}
	m, err := forward.Net(r.Model, net, theta, producer)
	if m == nil && err == nil {
		err = fmt.Errorf("--net: no network %s%s; the model has [%s]", net, spell.Hint(net, netNames(r)), strings.Join(netNames(r), ", "))
	}
	return m, err
}

func netNames(r *released.Release) (names []string) {
	for _, n := range r.Model.Spec.Nets {
		names = append(names, n.Name.V)
	}
	return names
}
