package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/markdown"
)

// Runbook is a page of the runbook as JSON.
type Runbook struct {
	Incident  string             `json:"incident"`
	Title     backend.Safe       `json:"title"`
	Text      string             `json:"text,omitempty"` // Markdown
	Diagnosis *runbook.Diagnosis `json:"diagnosis,omitempty"`
}

// WritePages lists pages.
func WritePages(w io.Writer, pages []Runbook) error {
	var b strings.Builder
	for _, p := range pages {
		fmt.Fprintf(&b, "%-9s  %s\n", p.Incident, p.Title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WritePage prints a page's text; below says that something stands above it.
func WritePage(w io.Writer, p Runbook, width int, below bool) error {
	s := markdown.Plain(p.Text, width)
	if below {
		s = strings.Repeat("─", width) + "\n" + s
	}
	_, err := io.WriteString(w, s)
	return err
}

// WriteDoc prints a document under its title, with an empty line after it.
func WriteDoc(w io.Writer, title string, doc *kit.Doc, o TableOptions) error {
	var b strings.Builder
	b.WriteString(title + "\n" + strings.Repeat("─", min(kit.Width(title), o.Width)) + "\n")
	for _, l := range doc.Print(o.Theme, o.Width) {
		if !o.Colour {
			l = ansi.Strip(l)
		}
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}
