package kit

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sandglass/views/theme"
)

// A whole https address opens with its text on terminals with colours, also where the text is wrapped or cut; widths stay right.
func TestLinks(t *testing.T) {
	const url = "https://docs.example/errors/max-instances-reached"
	var d Doc
	d.Field("see", Span{Text: "the page "}, Span{Tone: theme.Dim, Text: url, Link: Address(url)}, Span{Text: " says it"})
	for _, w := range []int{20, 40, 80} {
		linked := d.Layout(theme.New(theme.Sixteen, theme.Unicode), w)
		bare := d.Layout(theme.New(theme.NoColours, theme.Unicode), w)
		text := strings.Join(linked, "\n")
		if !strings.Contains(text, ansi.SetHyperlink(url)) || strings.Count(text, "\x1b]8;") != 2*strings.Count(text, ansi.SetHyperlink(url)) {
			t.Errorf("%d cells: %q", w, text)
		}
		if strings.Contains(strings.Join(bare, ""), "\x1b]8") {
			t.Errorf("a link without colours: %q", bare)
		}
		for i := range linked {
			if Width(linked[i]) != w || ansi.Strip(linked[i]) != ansi.Strip(bare[i]) {
				t.Errorf("%d cells: %q and %q", Width(linked[i]), linked[i], bare[i])
			}
		}
	}
	hiding := theme.New(theme.Sixteen, theme.Unicode).Showing(func(s string) string { return s })
	if got := strings.Join(d.Layout(hiding, 80), ""); strings.Contains(got, "\x1b]8") {
		t.Errorf("a link where names are hidden: %q", got)
	}
	for _, s := range []string{"http://a.example", "https://", "https://user@a.example/x", "https://a.example/ x", "https://ä.example", "javascript:1", "https:///x", "https://a\x1b]8", ""} {
		if Address(s) != "" {
			t.Errorf("%q can be opened", s)
		}
	}
}
