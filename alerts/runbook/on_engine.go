package runbook

import (
	"slices"
	"strings"

	"sandglass/backend"
)

// onEngine reports whether all of the subject lives on hosts of its own, such as in a local container engine.
func (s *subjectView) onEngine() bool {
	var providers []backend.Safe
	for _, w := range s.workspaces {
		providers = distinct(providers, w.Provider)
	}
	for _, b := range s.sandboxes {
		providers = distinct(providers, b.Provider)
	}
	docker := slices.Contains(providers, backend.Text("docker"))
	js := s.session != nil && slices.Contains([]string{"js", "node"}, strings.ToLower(s.session.Runtime.String()))
	return (docker || js) && !slices.ContainsFunc(providers, func(p backend.Safe) bool {
		return !slices.Contains([]string{"docker", "local-bash", "local-sandbox", "in-memory"}, p.String())
	})
}

// otherRuntime is where an agent runs that its runtime refuses workspaces to.
func (s *subjectView) otherRuntime() backend.Literal {
	if s.onEngine() {
		return "Run the agent on the JS runtime, or take its workspaces out."
	}
	return "Run the agent on the JS runtime or in a Durable Object, or take its workspaces out."
}

// durableObject is what trouble on hosts of one's own has nothing to do with.
const durableObject = "Durable Object"

// Fitting is the page without what does not concern the subject of a diagnosis.
func (p *Page) Fitting(d *Diagnosis) *Page {
	if d == nil || !d.OnEngine {
		return p
	}
	out := *p
	out.Sections = slices.Clone(p.Sections)
	for i := range out.Sections {
		out.Sections[i].Body = withoutObjects(out.Sections[i].Body)
	}
	return &out
}

// withoutObjects leaves out the list items and clauses of a text that tell of Durable Objects.
func withoutObjects(body string) string {
	var blocks []string
	for l := range strings.SplitSeq(body, "\n") {
		if n := len(blocks); n > 0 && strings.HasPrefix(l, "  ") {
			blocks[n-1] += "\n" + l
		} else {
			blocks = append(blocks, l)
		}
	}
	var out []string
	for _, b := range blocks {
		if strings.Contains(strings.Join(strings.Fields(b), " "), durableObject) {
			mark := ""
			if strings.HasPrefix(b, "- ") {
				mark, b = "- ", b[2:]
			}
			b = strings.ReplaceAll(strings.Join(strings.Fields(b), " "), " or "+durableObject, "")
			parts := slices.DeleteFunc(strings.Split(b, "; "), func(c string) bool { return strings.Contains(c, durableObject) })
			if b = strings.Join(parts, "; "); b == "" {
				continue
			}
			b = mark + b
		}
		out = append(out, b)
	}
	return strings.Join(out, "\n")
}
