package manual

import (
	"strings"

	"d3p/internal/models/spec"
)

// keys lists the keys of model files, block by block.
func keys() string {
	var p page
	p.paragraph("Keys of a model file, with NAME for names that the file chooses. Editors take the same from docs/schema/model-v1.json. The plan decides a key of guide, fit, privacy and output that is left out or auto.")
	list := spec.Keys()
	for i, k := range list {
		block, path, within := strings.Cut(k.Path, ".")
		if !within && i+1 < len(list) && strings.HasPrefix(list[i+1].Path, block+".") {
			p.WriteString("\n")
			p.paragraph(block + ": " + k.Meaning)
			continue
		}
		term := strings.ReplaceAll(path, ".", ": ")
		if !within {
			term = block
		}
		if len(k.Choices) > 0 {
			term += ": " + strings.Join(k.Choices, " | ")
		}
		if k.Needed {
			term += " (required)"
		}
		p.entry(term, k.Meaning)
	}
	return p.String()
}
