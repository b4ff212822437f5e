package spec

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// maxTensor bounds the columns of a tensor, so that a mistake in its shape
// cannot exhaust memory.
const maxTensor = 1 << 20

// mostTokens bounds the tokens that there are: a float32 has every whole number up to it.
const mostTokens = 1 << 24

// tensorFields are the keys of one array of columns.
func tensorFields(t *data.Tensor) []field {
	tokens := tokensField(t).means("how many tokens there are: the column has lists of whole numbers below it, 0 behind the end; or a public vocabulary: the column has lists of words that are looked up as they are")
	if t.Sequence() { // in the printed form
		return []field{
			text("from", &t.From), text("text", &t.Text), tokens, distinct("dims", "dim", &t.Dims),
			list("shape", &t.Shape, (*reader).sizes), text("source", &t.Source),
		}
	}
	return []field{
		text("from", &t.From).means("its columns, by default NAME0 and so on; with text or tokens, the column of these").as(func() string {
			return fmt.Sprintf(`columns("%s".."%s")`, t.Columns[0].Name.V, t.Columns[len(t.Columns)-1].Name.V)
		}),
		text("text", &t.Text).means("bytes: a token is 1 + a byte; or a public vocabulary, a file with a token on each line"),
		tokens,
		distinct("dims", "dim", &t.Dims).means("names of its dims"),
		list("shape", &t.Shape, (*reader).sizes).means("their sizes; for text and tokens the number of tokens that are kept"),
		choice("type", &t.Type, data.Real, data.Integer).or(data.Real).means("integer for whole numbers, such as tokens or levels that an embedding reads"),
		number("lower", &t.Lower).means("the smallest possible value"),
		number("upper", &t.Upper).means("the largest possible value"),
		mapping("scale", []field{number("center", &t.Center).means("default: the middle of the bounds"), positive("by", &t.By).means("default: the distance of the bounds by √12")}).
			means("the unit of the values").
			as(func() string { return scaleText(t.Columns[0].Scale()) }),
		text("source", &t.Source).means("where the constants come from"),
	}
}

// tokensField is the number of tokens, or the file of a vocabulary.
func tokensField(t *data.Tensor) field {
	return field{key: "tokens",
		read: func(r *reader, e entry) {
			s, file := e.node.(*ast.StringNode)
			if file {
				_, err := strconv.Atoi(s.Value)
				file = err != nil
			}
			if file || r.shape != nil {
				t.Words = r.text(e)
			}
			if !file {
				t.Tokens = r.count(e, data.Unknown+1)
			}
		},
		stated: t.Listed,
		print: func(p *printer) {
			if t.Words.IsSet() {
				p.text("tokens", t.Words.V)
			} else {
				p.value("tokens", t.Tokens.V)
			}
		}}
}

// readTensor reads one array of columns.
func readTensor(r *reader, e entry) (*data.Tensor, bool) {
	t := &data.Tensor{Name: e.name()}
	r.tensor(e, t)
	return t, true
}

// tensor reads the keys of an array, checks them and names its columns.
func (r *reader) tensor(e entry, t *data.Tensor) {
	keys := r.object(e, "tensor "+e.key, tensorFields(t))
	if keys == nil || keys["tokens"] && !t.Listed() {
		return
	}
	needs, refused, is := []string{"dims", "shape", "lower", "upper"}, []string(nil), "text"
	if t.Listed() {
		is = "of tokens"
	}
	if t.Sequence() {
		needs, refused = []string{"from", "dims", "shape"}, []string{"type", "lower", "upper", "scale"}
	}
	for _, need := range needs {
		if !keys[need] {
			r.Add(e.at, "", "tensor %s has no %s", e.key, need)
		}
	}
	for _, key := range refused {
		if keys[key] {
			r.Add(e.at, "leave it out", "tensor %s is %s, which has no %s", e.key, is, key)
		}
	}
	switch {
	case t.Text.IsSet() && t.Listed():
		r.Add(cmp.Or(t.Tokens.At, t.Words.At), "leave one of the two out", "tensor %s has both text and tokens", e.key)
		return
	case t.Tokens.IsSet() && t.Tokens.V > mostTokens:
		r.Add(t.Tokens.At, "", "tensor %s has more than %d tokens", e.key, mostTokens)
		return
	case len(t.Dims) != len(t.Shape):
		r.Add(e.at, "one size per dim", "tensor %s has %d dims and %d sizes", e.key, len(t.Dims), len(t.Shape))
		return
	case t.Lower.IsSet() && t.Upper.IsSet() && t.Lower.V >= t.Upper.V:
		r.Add(t.Upper.At, "", "the upper bound must be above the lower bound %s", source.FormatNumber(t.Lower.V))
		return
	case t.Size() > maxTensor || t.Size() < 1:
		r.Add(e.at, "", "tensor %s has more than %d columns", e.key, maxTensor)
		return
	}
	if !t.Sequence() {
		r.tensorColumns(t)
	} else if len(t.Dims) != 1 {
		r.Add(e.at, "shape: [64] keeps the first 64 tokens", "tensor %s is %s, which has one dim, not %d", e.key, is, len(t.Dims))
	}
}

// loadSequences reads the vocabularies of texts and lists of words and names the columns of sequences.
func (r *reader) loadSequences(d *data.Data, load Loader) {
	for _, t := range d.Tensors {
		if !t.Sequence() || t.Text.IsSet() && t.Listed() || len(t.Dims) != 1 || len(t.Shape) != 1 {
			continue // of numbers, or reported
		}
		at := cmp.Or(t.Text.At, t.Words.At, t.Tokens.At)
		r.vocabulary(t, load)
		for i := range t.Size() {
			t.Columns = append(t.Columns, &data.Column{
				Name: source.Value[string]{V: data.TokenColumn(t.From.V, i), At: t.Name.At}, Type: source.Value[string]{V: data.Integer, At: t.Name.At},
				Lower: source.Value[float64]{V: data.Padding, At: at}, Upper: source.Value[float64]{V: float64(t.TokenLevels() - 1), At: at},
				Source: source.Value[string]{V: "tokens", At: at}, Missing: data.Missing{Rule: data.MissingReject},
			})
		}
	}
}

// vocabulary reads the vocabulary of a sequence, if it has one.
func (r *reader) vocabulary(t *data.Tensor, load Loader) {
	file, other := t.Text, "text: bytes"
	if t.Words.IsSet() {
		file, other = t.Words, "tokens: 30000"
	}
	if !file.IsSet() || t.Text.V == data.Bytes {
		return
	}
	src, err := load(r.relative(file.V))
	if t.Vocabulary = data.ReadVocabulary(src); err == nil && len(t.Vocabulary) == 0 {
		err = errEmptyTable
	}
	if err != nil {
		r.Add(file.At, fmt.Sprintf("write `%s`, or the file of a vocabulary with a token on each line", other), "cannot read the vocabulary of %s: %v", t.Name.V, err)
	}
}

// columnRange is columns("px0".."px783"): two names that end in numbers.
var columnRange = regexp.MustCompile(`^columns\("([^"]*?)(\d+)"\s*\.\.\s*"([^"]*?)(\d+)"\)$`)

// tensorColumns names the columns of a tensor.
func (r *reader) tensorColumns(t *data.Tensor) {
	prefix, first := t.Name.V, 0
	if t.From.IsSet() {
		m := columnRange.FindStringSubmatch(t.From.V)
		if m == nil || m[1] != m[3] {
			r.Add(t.From.At, `write columns("px0".."px783")`, "%s does not name the columns of tensor %s", t.From.V, t.Name.V)
			return
		}
		prefix = m[1]
		first, _ = strconv.Atoi(m[2])
		last, _ := strconv.Atoi(m[4])
		if last-first+1 != t.Size() {
			r.Add(t.From.At, "", "%s names %d columns, but tensor %s has %d values", t.From.V, max(0, last-first+1), t.Name.V, t.Size())
			return
		}
	}
	for i := range t.Size() {
		t.Columns = append(t.Columns, &data.Column{
			Name: source.Value[string]{V: prefix + strconv.Itoa(first+i), At: t.Name.At}, Type: source.Value[string]{V: t.Type.Or(data.Real), At: t.Name.At},
			Lower: t.Lower, Upper: t.Upper, Center: t.Center, By: t.By, Source: t.Source,
			Missing: data.Missing{Rule: data.MissingReject},
		})
	}
}

// binarize is one element of `binarize:`.
type binarize struct{ column, mode source.Value[string] }

func (b *binarize) fields() []field {
	return []field{text("column", &b.column).means("a tensor"),
		choice("mode", &b.mode, data.Stochastic, data.Threshold).means("stochastic: a fresh draw per record and step; threshold: 1 from the middle on")}
}

// binarizes is `binarize: {column:, mode:}`, one or a list of them.
func binarizes(d *data.Data, modes *[]binarize) field {
	one := func(r *reader, e entry) {
		var b binarize
		if r.object(e, "binarize", b.fields()) != nil && b.column.IsSet() {
			*modes = append(*modes, b)
		}
	}
	binary := slices.DeleteFunc(slices.Clone(d.Tensors), func(t *data.Tensor) bool { return !t.Binarize.IsSet() })
	return field{key: "binarize",
		read: func(r *reader, e entry) {
			_, list := e.node.(*ast.SequenceNode)
			if list || r.shape != nil {
				r.items(e, func(n ast.Node) { one(r, entry{e.key, e.at, n}) })
			}
			if !list {
				one(r, e)
			}
		},
		stated: func() bool { return len(binary) > 0 },
		print: func(p *printer) {
			p.block("binarize", func() {
				for _, t := range binary {
					p.item(flow((&binarize{t.Name, t.Binarize}).fields()))
				}
			})
		}}
}

// binarize notes how a tensor is binarised.
func (r *reader) binarize(b binarize, d *data.Data) {
	t := d.Tensor(b.column.V)
	if t == nil {
		var names []string
		for _, t := range d.Tensors {
			names = append(names, t.Name.V)
		}
		r.Add(b.column.At, spell.Suggest(b.column.V, "tensors", names), "no tensor %s", b.column.V)
		return
	}
	t.Binarize = source.Value[string]{V: b.mode.Or(data.Stochastic), At: b.column.At}
	if len(t.Columns) == 0 {
		return
	}
	center, by := t.Columns[0].Scale()
	if (t.Lower.V-center)/by < 0 || (t.Upper.V-center)/by > 1 {
		r.Add(b.column.At, fmt.Sprintf("write `scale: %s`", scaleText(t.Lower.V, t.Upper.V-t.Lower.V)), "the scaled values of tensor %s are no probabilities", b.column.V)
	}
}
