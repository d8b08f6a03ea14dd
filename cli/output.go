package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/backend"
	"sandglass/views/text"
)

// oneWord is a flag that takes one of some words; the first is the default.
type oneWord struct {
	flag    string // as it is typed
	allowed []string
	word    string
}

// Set refuses a word that is not allowed.
func (o *oneWord) Set(s string) error {
	if !slices.Contains(o.allowed, s) {
		what := fmt.Sprintf("%s %q is not known; it is one of %s", o.flag, s, strings.Join(o.allowed, ", "))
		if near := backend.Nearest(s, o.allowed); near != "" && s != "" && near[0] == s[0] {
			what = fmt.Sprintf("%s %q is not known; did you mean %s?", o.flag, s, near)
		}
		return usage("%s", what)
	}
	o.word = s
	return nil
}

// String is the word that holds.
func (o *oneWord) String() string { return o.word }

// Type is the word for it in the help.
func (o *oneWord) Type() string { return "string" }

// word adds a flag that takes one of the allowed words, and its completion.
func (p *Program) word(cmd *cobra.Command, name, short, usage string, allowed ...string) *oneWord {
	o := &oneWord{flag: "--" + name, allowed: allowed, word: allowed[0]}
	if short != "" {
		o.flag = "-" + short
	}
	cmd.Flags().VarP(o, name, short, usage)
	p.complete(cmd, name, allowed)
	return o
}

// The forms of a document.
const (
	formatText = "text"
	formatJSON = "json"
	formatYAML = "yaml" // the same document
)

// output adds the flag -o for text, JSON or YAML.
func (p *Program) output(cmd *cobra.Command) *oneWord {
	return p.word(cmd, "output", "o", "text, json or yaml", formatText, formatJSON, formatYAML)
}

// tables adds the flag -o for tables, JSON and CSV.
func (p *Program) tables(cmd *cobra.Command) *oneWord {
	return p.word(cmd, "output", "o", strings.Join(getFormats[:], ", "), getFormats[:]...)
}

// print writes a document as JSON, as YAML, or as text.
func print[D any](p *Program, format *oneWord, doc D, asText func(D) error) error {
	switch format.word {
	case formatJSON:
		return unwrittenIf(text.WriteJSON(p.Stdout, doc))
	case formatYAML:
		return unwrittenIf(text.WriteYAML(p.Stdout, doc))
	}
	return unwrittenIf(asText(doc))
}

func (p *Program) write(s string) error {
	_, err := io.WriteString(p.Stdout, s)
	return err
}
