package subjects

import (
	"testing"

	"sandglass/views/theme"
)

// An https address in why a source is down opens; another one does not, and nothing of the text is lost.
func TestAddressesOfSourcesOpen(t *testing.T) {
	const why = "refused at https://prom.example:9/metrics?…: twice; not http://prom.example/metrics, nor https://a@b.example, but (https://c.example/x)."
	text, links := "", []string{}
	for _, s := range linked(theme.Bad, why) {
		if text += s.Text; s.Link != "" {
			links = append(links, s.Text+" "+s.Link)
		}
	}
	if text != why {
		t.Errorf("%q became %q", why, text)
	}
	if len(links) != 2 || links[0] != "https://prom.example:9/metrics?… https://prom.example:9/metrics" || links[1] != "https://c.example/x https://c.example/x" {
		t.Errorf("opens %q", links)
	}
}
