package text

import (
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/theme"
)

// page writes Markdown. Whatever is foreign goes through code or block.
type page struct{ b strings.Builder }

func (p *page) title(s string) { p.b.WriteString("# " + s + "\n") }

func (p *page) section(s string) { p.b.WriteString("\n## " + s + "\n\n") }

func (p *page) item(format string, args ...any) { fmt.Fprintf(&p.b, "- "+format+"\n", args...) }

func (p *page) sub(format string, args ...any) { fmt.Fprintf(&p.b, "  - "+format+"\n", args...) }

func (p *page) text(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// code is a code span; its fence is longer than any run of backticks inside.
func code(s string) string {
	fence := strings.Repeat("`", longestRun(s)+1)
	if s == "" {
		return fence + " " + fence
	}
	if s[0] == '`' || s[len(s)-1] == '`' || strings.TrimSpace(s) != s {
		s = " " + s + " "
	}
	return fence + s + fence
}

// cell is a code span in a table, where a bar would end the cell.
func cell(s string) string { return strings.ReplaceAll(code(s), "|", `\|`) }

// rawID is an identifier in full: as it is where that is plain, else as a JSON string.
func rawID(id backend.ID) string {
	s := backend.QuoteJSON(id.Raw())
	if s[1:len(s)-1] == id.Raw() && strings.TrimSpace(id.Raw()) == id.Raw() {
		s = id.Raw()
	}
	return code(s)
}

// block is a fenced block. Line ends that cleaning turned into ␊ break the line again.
func (p *page) block(language, s string) {
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	fmt.Fprintf(&p.b, "\n%s%s\n%s\n%s\n", fence, language, strings.TrimRight(strings.ReplaceAll(s, "␊", "\n"), "\n"), fence)
}

func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

func frameOf(ctx *views.Snapshot) *views.Frame {
	return &views.Frame{Snapshot: ctx, Theme: theme.New(theme.NoColours, theme.Unicode)}
}
