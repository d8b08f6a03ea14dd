package ui

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/colorprofile"
)

// The references of a runbook page open from the terminal with https; one without colours gets no links.
func TestRunbookLinks(t *testing.T) {
	for profile, want := range map[colorprofile.Profile]bool{colorprofile.ANSI256: true, colorprofile.ANSI: true, colorprofile.ASCII: false} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, incidentFeed(), look{w: 100, h: 40, profile: profile})
			s.press("R", "G")
			links := map[string]string{}
			for y := range s.h {
				for x := range s.w {
					if c := s.em.CellAt(x, y); c != nil && c.Link.URL != "" {
						links[c.Link.URL] += c.Content
					}
				}
			}
			if len(links) > 0 != want {
				t.Errorf("%v: links %v on\n%s", profile, links, s.text())
			}
			for url, text := range links {
				if !strings.HasPrefix(url, "https://") || text != url {
					t.Errorf("%q opens %q", text, url)
				}
			}
			s.close()
		})
	}
}
