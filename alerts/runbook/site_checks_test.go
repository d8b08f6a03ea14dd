package runbook

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func TestWhatTheSitesOwnChecksAnswer(t *testing.T) {
	evicted := func(text string) []*backend.Workspace {
		return []*backend.Workspace{broken("s1", "box", backend.ClassEvicted, text)}
	}
	fact := func(holds bool, edit ...func(*backend.Fact)) []backend.Fact {
		f := backend.Fact{Name: "r2.reachable", Holds: holds, Text: backend.Text("answered 503"), At: before(40 * time.Second)}
		for _, e := range edit {
			e(&f)
		}
		return []backend.Fact{f}
	}
	quota := func(f *backend.Fact) { f.Name, f.Confirms = "instances.exhausted", []string{"quota"} }
	for name, c := range map[string]struct {
		w        world
		question string
		mark     Mark
		source   string
		fact     string
	}{
		"not reachable":                      {world{workspaces: evicted("gone"), site: fact(false)}, "storage", Confirmed, "site", "r2.reachable is false: answered 503"},
		"reachable":                          {world{workspaces: evicted("gone"), site: fact(true)}, "storage", RuledOut, "site", "r2.reachable is true"},
		"it does not answer any more":        {world{workspaces: evicted("gone"), site: fact(false), down: []string{"site"}}, "storage", CannotTell, "", "site does not answer now; 40s before it said: r2.reachable is false"},
		"it speaks about another source":     {world{workspaces: evicted("gone"), site: fact(false), without: []string{"its own subject"}}, "storage", CannotTell, "", "matches no known reason"},
		"an error names it all the same":     {world{workspaces: evicted("R2 bucket unreachable"), site: fact(true)}, "storage", Confirmed, "helix-eu", "but site says: r2.reachable is true"},
		"both name it":                       {world{workspaces: evicted("R2 bucket unreachable"), site: fact(false)}, "storage", Confirmed, "helix-eu", "R2 bucket unreachable"},
		"a fact that confirms":               {world{workspaces: evicted("gone"), site: fact(true, quota)}, "quota", Confirmed, "site", "instances.exhausted is true: answered 503"},
		"a fact that confirms does not hold": {world{workspaces: evicted("max_instances reached"), site: fact(false, quota)}, "quota", Confirmed, "helix-eu", "but site says"},
		"two checks, one finds it":           {world{workspaces: evicted("gone"), site: append(fact(true), fact(false)...)}, "storage", Confirmed, "site", "but"},
		"a fact of no meaning to us":         {world{workspaces: evicted("gone"), site: fact(false, func(f *backend.Fact) { f.Name = "vpn.up" })}, "storage", CannotTell, "", "matches no known reason"},
	} {
		d := c.w.diagnose("7", sessionKey("s1"))
		i := slices.IndexFunc(d.Checks, func(x Check) bool { return x.Name == c.question })
		x := d.Checks[i]
		if x.Mark != c.mark || x.Source != c.source || !strings.Contains(x.Fact.String(), c.fact) && c.fact != "but" {
			t.Errorf("%s: %s by %q: %s", name, x.Mark, x.Source, x.Fact)
		}
		if x.Source == "site" && !x.At.Equal(before(40*time.Second)) {
			t.Errorf("%s: its age is lost: %v", name, x.At)
		}
		if (x.Mark == CannotTell) == x.WouldTell.IsEmpty() {
			t.Errorf("%s: would tell %q", name, x.WouldTell)
		}
	}
}

// TestQuestionsAreAll holds that a check can be pointed at every question: none is asked only in some situations.
func TestQuestionsAreAll(t *testing.T) {
	q := Questions()
	for _, want := range []string{"storage", "quota", "reads", "before-4", "host-memory", "shared-id"} {
		if !slices.Contains(q, want) {
			t.Errorf("%s is missing in %v", want, q)
		}
	}
	full := world{workspaces: []*backend.Workspace{failed("s1", "box", "x")}, sessions: []*backend.Session{session("s1", true)},
		sandboxes: []*backend.Sandbox{box("a", "s1")}, hosts: []*backend.Host{host()}}
	for _, p := range All() {
		d := full.diagnose(p.Number, sessionKey("s1"))
		for i := range d.Checks {
			if name := d.Checks[i].Name; name != AlertCheck && !slices.Contains(q, name) {
				t.Errorf("%s of page %s is not among the questions", d.Checks[i].Name, p.Number)
			}
		}
	}
}
