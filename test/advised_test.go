package test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

var advisedCommand = regexp.MustCompile(`\bsandglass (destroy|pause|probe|repair|replace|rescue|resume|stop) (?:--config \S+ )?(\S+)`)

// judges are the actions of the sources of a configuration that judge what was read, by the name of the verb.
type judges map[string]map[string]actions.TargetReader

func judgesOf(t *testing.T, text string) judges {
	t.Helper()
	p := testProgram(time.Now)
	c := parseConfig(t, p, text)
	sources, _, err := p.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	able, err := p.Abilities(c, sources, "", false)
	if err != nil {
		t.Fatal(err)
	}
	out := judges{}
	for _, a := range able {
		if a.Part.Targets == nil || a.Part.ReadsItself {
			continue
		}
		if out[a.Source] == nil {
			out[a.Source] = map[string]actions.TargetReader{}
		}
		out[a.Source][string(a.Spec.Verb)] = a.Part.Targets
	}
	return out
}

// refused are the commands that a page prints and their actions would refuse now. What follows a step that turns the sandbox into
// another state is not judged. It counts those that it asked about.
func (j judges) refused(st *fleet.State, d *runbook.Diagnosis, asked map[string]int) (out []string) {
	var said []string
	for _, x := range d.Do {
		said = append(said, x.String())
	}
	if i := slices.IndexFunc(said, func(x string) bool { return strings.Contains(x, "sandglass resume ") }); i >= 0 {
		said = said[:i+1]
	}
	for _, c := range d.Checks {
		said = append(said, c.WouldTell.String())
	}
	for _, text := range said {
		for _, m := range advisedCommand.FindAllStringSubmatch(text, -1) {
			name := strings.Trim(m[2], "'.,;:)")
			for b := range st.Sandboxes.All() {
				judge := j[b.Key.Source][m[1]]
				if judge == nil || b.Name.String() != name && b.Key.ID.Raw() != name {
					continue
				}
				asked[m[1]]++
				for _, c := range judge.Look(context.Background(), actions.Question{Keys: []backend.Key{b.Key}, State: st, Now: st.Wall}) {
					if !c.Why.IsEmpty() && !c.Undecided {
						out = append(out, text+"\n  refused: "+c.Why.String())
					}
				}
			}
		}
	}
	return out
}

// advisesNothingRefused asks the actions themselves about each command on the page of each sandbox that an alert names, or that has
// trouble of its own.
func (j judges) advisesNothingRefused(t *testing.T, scenario string, c runbook.Case, asked map[string]int) {
	t.Helper()
	pages := []string{"contradiction"}
	for _, a := range c.Board.Alerts {
		if !slices.Contains(pages, a.Runbook) && a.Runbook != "" {
			pages = append(pages, a.Runbook)
		}
	}
	n := 0
	for b := range c.State.Sandboxes.All() {
		if j[b.Key.Source] == nil || n > 12 && !b.Broken() {
			continue
		}
		n++
		for _, page := range pages {
			x := c
			x.Subject = b.Key
			d := x.Diagnose(page)
			for _, line := range j.refused(c.State, &d, asked) {
				t.Errorf("%s: page %s of %s: %s", scenario, page, b.Name, line)
			}
		}
	}
}
