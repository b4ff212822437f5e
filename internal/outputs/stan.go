package outputs

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"d3p/internal/release"
)

// stanFile is draws.stan.csv: the variational output of CmdStan, which cmdstanpy, CmdStanR
// and ArviZ read. The first row is the mean, the others are draws. lp__, log_p__ and
// log_g__ are 0: the log density of a draw is an unpaid function of the records.
func stanFile(s *Sample) release.File {
	return release.File{Name: stanDrawsName, Covered: true, Write: func(w io.Writer) error {
		out := bufio.NewWriter(w)
		stanComments(out, s)
		names := []string{"lp__", "log_p__", "log_g__"}
		var columns []int // variable of each column
		for _, g := range s.Draws.Groups {
			for _, at := range columnMajor(g.Dims) {
				names = append(names, stanName(g, at))
				columns = append(columns, g.First+at)
			}
		}
		out.WriteString(strings.Join(names, ",") + "\n")
		out.WriteString("# Stepsize adaptation complete.\n# eta = 1\n")
		row := func(value func(variable int) float64) {
			line := []byte("0,0,0")
			for _, v := range columns {
				line = append(line, ',')
				line = appendStan(line, value(v))
			}
			out.Write(append(line, '\n'))
		}
		row(func(v int) float64 { return s.Draws.Center[v] })
		for i := range s.Draws.S {
			row(func(v int) float64 { return s.Draws.Of(v)[i] })
		}
		return out.Flush()
	}}
}

// stanComments writes the configuration in CmdStan's form, with the keys that cmdstanpy
// needs. It has no seed of the noise: that is secret.
func stanComments(w io.Writer, s *Sample) {
	fmt.Fprintf(w, "# stan_version_major = 2\n# stan_version_minor = 35\n# stan_version_patch = 0\n")
	fmt.Fprintf(w, "# model = %s_model\n", s.Model)
	fmt.Fprintf(w, "# start_datetime = %s UTC\n", s.Created.UTC().Format("2006-01-02 15:04:05"))
	fmt.Fprintf(w, "# privacy = %s\n", s.Claim)
	fmt.Fprintf(w, "# d3p took %d steps of its own algorithm; readers of this format require the keys below, but most of them have no meaning here\n", s.Steps)
	fmt.Fprintf(w, "# method = variational\n#   variational\n#     algorithm = meanfield (Default)\n#       meanfield\n")
	fmt.Fprintf(w, "#     iter = %d\n#     grad_samples = 1 (Default)\n#     elbo_samples = 100 (Default)\n#     eta = 1 (Default)\n", s.Steps)
	fmt.Fprintf(w, "#     adapt\n#       engaged = 0\n#       iter = 50 (Default)\n#     tol_rel_obj = 0.01 (Default)\n#     eval_elbo = 100 (Default)\n#     output_samples = %d\n", s.Draws.S)
}

// columnMajor lists the row-major places of an array's elements in column-major
// order: the first index varies fastest.
func columnMajor(dims []Dim) []int {
	size := 1
	for _, d := range dims {
		size *= len(d.Labels)
	}
	order := make([]int, size)
	for k := range order {
		at, rest, stride := 0, k, size
		for _, d := range dims {
			n := len(d.Labels)
			stride /= n
			at += rest % n * stride
			rest /= n
		}
		order[k] = at
	}
	return order
}

// stanName is the name of the element at a row-major place: b.1.2.
func stanName(g Group, at int) string {
	index := make([]string, len(g.Dims))
	for j := len(g.Dims) - 1; j >= 0; j-- {
		n := len(g.Dims[j].Labels)
		index[j] = "." + strconv.Itoa(at%n+1)
		at /= n
	}
	return g.Name + strings.Join(index, "")
}

// appendStan writes a number as CmdStan does.
func appendStan(line []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(line, "NaN"...)
	case math.IsInf(x, 1):
		return append(line, "inf"...)
	case math.IsInf(x, -1):
		return append(line, "-inf"...)
	}
	return strconv.AppendFloat(line, x, 'g', 8, 64)
}
