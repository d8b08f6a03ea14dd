package cli_test

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/app"
)

// linked is a rule to which the site added links.
type linked struct{ alerts.Rule }

func (linked) Meta() *alerts.Meta {
	return &alerts.Meta{Name: "eviction-storm", RunbookLinks: []string{"Escalation https://wiki.example/call", "https://wiki.example/storm"}}
}

func TestLinksOfTheSiteHaveTitles(t *testing.T) {
	local := app.LocalRunbook([]alerts.Rule{linked{}}, nil)["eviction-storm"]
	page, _ := runbook.Incident("7")
	for _, want := range []string{`- [Escalation](<https`, `(<https://wiki.example/call>)`, `](<https://wiki.example/storm>)`} {
		if text := page.Markdown(local); !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text[:400])
		}
	}
}
