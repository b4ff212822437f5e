package outputs

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"d3p/internal/release"
)

// csvFile is draws.csv: the columns of draws.parquet as text. In R:
// as_draws_df(read.csv(csvName, check.names = FALSE)).
func csvFile(s *Sample) release.File {
	return release.File{Name: csvName, Covered: true, Write: func(w io.Writer) error {
		out := bufio.NewWriter(w)
		header := []string{".chain", ".iteration", ".draw"}
		for _, v := range s.Draws.Variables {
			header = append(header, quoted(v.Name))
		}
		if s.Banner != "" {
			header = append(header, "privacy")
		}
		out.WriteString(strings.Join(header, ",") + "\n")
		var line []byte
		for i := range s.Draws.S {
			line = append(line[:0], "1,"...)
			line = strconv.AppendInt(line, int64(i+1), 10)
			line = append(line, ',')
			line = strconv.AppendInt(line, int64(i+1), 10)
			for v := range s.Draws.Variables {
				line = append(line, ',')
				line = strconv.AppendFloat(line, s.Draws.Of(v)[i], 'g', 8, 64)
			}
			if b := s.Banner; b != "" {
				line = append(append(line, ','), b...)
			}
			out.Write(append(line, '\n'))
		}
		return out.Flush()
	}}
}

// longFile is draws_long.csv: a row per draw and variable, for databases.
func longFile(s *Sample) release.File {
	return release.File{Name: longName, Covered: true, Write: func(w io.Writer) error {
		out := bufio.NewWriter(w)
		end := "\n"
		header := ".draw,variable,value"
		if b := s.Banner; b != "" {
			header, end = header+",privacy", ","+b+"\n"
		}
		out.WriteString(header + "\n")
		for v, variable := range s.Draws.Variables {
			name := quoted(variable.Name)
			for i, x := range s.Draws.Of(v) {
				out.WriteString(strconv.Itoa(i+1) + "," + name + "," + strconv.FormatFloat(x, 'g', 8, 64) + end)
			}
		}
		return out.Flush()
	}}
}

// quoted is a cell of a CSV file.
func quoted(name string) string {
	if strings.ContainsAny(name, ",\"\n") {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return name
}
