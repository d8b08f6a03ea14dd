package runbook

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestTroubleOfALocalEngineNamesNoDurableObject: neither in the text of a page, nor in its checks and advice.
func TestTroubleOfALocalEngineNamesNoDurableObject(t *testing.T) {
	said := func(d Diagnosis, page *Page) string {
		all := []string{page.Fitting(&d).Advice(Local{}), d.Conclusion.String()}
		for _, c := range d.Checks {
			all = append(all, c.Question.String(), c.Fact.String(), c.WouldTell.String())
		}
		for _, l := range append(d.Do, d.Dont...) {
			all = append(all, l.String())
		}
		return strings.Join(strings.Fields(strings.Join(all, " ")), " ")
	}
	local := func(p backend.Literal) world {
		return world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.Runtime = backend.Text("js") })},
			workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "boom", provider(p))},
			sandboxes:  []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Provider = backend.Text("docker") })}}
	}
	for _, number := range []string{"1", "2", "3"} {
		page, _ := Incident(number)
		for _, p := range []backend.Literal{"docker", "local-bash", ""} {
			if text := said(local(p).diagnose(number, wsKey("s1", "box")), page); strings.Contains(text, "Durable") {
				i := strings.Index(text, "Durable")
				t.Errorf("page %s, provider %q: …%s", number, p, text[max(0, i-80):i+40])
			}
		}
		cloud := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "boom", provider("cloudflare-filestore"))}}
		if text := said(cloud.diagnose(number, wsKey("s1", "box")), page); !strings.Contains(text, "Durable Object") {
			t.Errorf("page %s of a cloud platform does not name them", number)
		}
		if d := local("docker").diagnose(number, wsKey("s1", "box")); strings.Count(page.Fitting(&d).Advice(Local{}), "\n- ") < strings.Count(page.Advice(Local{}), "\n- ")-1 {
			t.Errorf("page %s lost more than one item", number)
		}
	}
}
