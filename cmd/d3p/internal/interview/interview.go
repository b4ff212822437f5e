// Package interview asks a person at a terminal for the facts that a model file would leave
// blank.
package interview

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"d3p/cmd/d3p/internal/outfile"
	"d3p/internal/models/data"
	"d3p/internal/models/skeleton"
	"d3p/internal/spell"
	"d3p/internal/status"
)

// errNoAnswers means that the input ended before the last question.
var errNoAnswers = errors.New("stopped: nothing was written")

// Interview asks on Out and reads answers from In. It sees only the names of columns.
type Interview struct {
	In  *bufio.Scanner
	Out io.Writer
	// Check reports the errors of a model file other than its blanks.
	Check func(text []byte) error
}

// ask repeats a question until take accepts the answer; an empty answer leaves a blank.
func (i *Interview) ask(question string, take func(answer string) error) error {
	for {
		fmt.Fprintf(i.Out, "%s: ", question)
		if !i.In.Scan() {
			fmt.Fprintln(i.Out)
			return errNoAnswers
		}
		answer := strings.TrimSpace(i.In.Text())
		if answer == "" {
			return nil
		}
		err := take(answer)
		if err == nil {
			return nil
		}
		fmt.Fprintf(i.Out, "  %v\n", err)
	}
}

// Run asks for missing facts about the table and its columns, and returns the model file.
func (i *Interview) Run(columns []skeleton.Described, known skeleton.Known) ([]byte, error) {
	fmt.Fprint(i.Out, "Answer from public knowledge, without looking at the data. Enter leaves a blank.\n")
	word := func(to *string) func(string) error {
		return func(answer string) error { *to = answer; return nil }
	}
	if known.Entity == "" {
		if err := i.ask("whom the guarantee protects (patient, person, household)", word(&known.Entity)); err != nil {
			return nil, err
		}
	}
	if known.Records == 0 {
		err := i.ask("their public number", func(answer string) (err error) {
			if known.Records, err = strconv.Atoi(answer); err != nil || known.Records < 1 {
				known.Records, err = 0, errors.New("a positive whole number")
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if known.Semicolons {
		err := i.ask("what stands before decimals, a comma or a point", func(answer string) error {
			if answer != "," && answer != "." {
				return errors.New("a comma or a point")
			}
			known.Decimal = answer
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	columns, err := i.columns(columns, known)
	if err != nil {
		return nil, err
	}
	return i.model(columns, known)
}

// columns asks for the declarations of columns.
func (i *Interview) columns(columns []skeleton.Described, known skeleton.Known) ([]skeleton.Described, error) {
	fmt.Fprintf(i.Out, "Columns: bounds or levels, such as %s; id for the units' ids, - leaves the column out.\n", skeleton.Answers)
	for k := range columns {
		c := &columns[k]
		if !known.Asks(*c) {
			continue
		}
		err := i.ask(c.Name, func(answer string) error {
			switch answer {
			case "-":
				c.Role = "ignore"
				return nil
			case "id":
				c.Role = "id"
				return nil
			}
			c.Source = "expert"
			return c.Answer(answer)
		})
		if err == nil && (c.Type == data.Real || c.Type == data.Integer) && c.Center == "" && c.Role == "" {
			err = i.ask("  its typical value and deviation, such as 60 20", c.Spread)
		}
		if err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// model asks for formula and family until Check accepts them.
func (i *Interview) model(columns []skeleton.Described, known skeleton.Known) ([]byte, error) {
	for {
		own := known
		for _, part := range []struct {
			question string
			to       *string
		}{{"formula, such as outcome ~ age + sex", &own.Formula}, {"family (bernoulli, normal, poisson, ...)", &own.Family}} {
			if *part.to != "" || known.Twin {
				continue
			}
			if err := i.ask(part.question, func(answer string) error { *part.to = answer; return nil }); err != nil {
				return nil, err
			}
		}
		text := skeleton.FromCodebook(columns, own)
		err := i.Check(text)
		if err == nil {
			return text, nil
		}
		fmt.Fprintf(i.Out, "  %v\n", err)
		if known.Twin || known.Formula != "" && known.Family != "" {
			return nil, err
		}
	}
}

// Write asks for the path of the model file and writes it.
func (i *Interview) Write(text []byte, path string) error {
	to := path
	err := i.ask("file to write ["+path+"]", func(answer string) error {
		to = answer
		return notThere(to)
	})
	if err == nil {
		err = notThere(to)
	}
	if err == nil {
		err = outfile.Write(to, text)
	}
	if err != nil {
		return status.With(status.Numeric, err)
	}
	fmt.Fprintf(i.Out, "%s is written; next: d3p check %s\n", to, spell.Word(to))
	return nil
}

// notThere refuses an existing file.
func notThere(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists (name another file)", path)
	}
	return nil
}
