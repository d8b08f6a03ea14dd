package subjects

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// The scope says how large an alert is: the rate of a flood, what is in use of a limit, what is left behind.
func TestTheScopeSaysTheExtent(t *testing.T) {
	flood := &alerts.Alert{Rule: "audit-saturation", Source: "a", State: alerts.StateFiring, Evidence: []alerts.Evidence{
		{Text: backend.Text("s9: at least 1,938 rejected commands/s over 1m (alert from 5)"), Value: backend.Known(1938.2), Unit: "1/s"}}}
	full := &alerts.Alert{Rule: "capacity", Source: "a", State: alerts.StateFiring, Evidence: []alerts.Evidence{
		{Text: backend.Text("60 of 60 in use, as the newest error says (warning from 80 %)"), Value: backend.Known(1.0), Unit: "share"}}}
	storm := &alerts.Alert{Rule: "eviction-storm", Source: "a", State: alerts.StateFiring}
	elsewhere := &alerts.Alert{Rule: "eviction-storm", Source: "b", State: alerts.StateFiring}
	closing := &alerts.Alert{Rule: "tmpdir-close-failed", State: alerts.StateFiring}
	unowned := &alerts.Alert{Rule: "tmpdir-orphaned", State: alerts.StateFiring, SubjectCount: 1}
	dir := func(id string) *backend.Tmpdir {
		return &backend.Tmpdir{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindTmpdir, Source: "t", ID: backend.MustID(id)}}}
	}
	c := views.NewSnapshot(noon, &fleet.State{Tmpdirs: fleet.NewTable(dir("x"), dir("y"))}, &alerts.Board{Alerts: []*alerts.Alert{flood, full, storm, elsewhere, closing, unowned}})
	for a, want := range map[*alerts.Alert]string{
		flood: "; at least 1,938 rejected commands a second", full: "; 60 of 60 instances in use", storm: "; 60 of 60 instances in use", elsewhere: "",
		closing: "; 2 scratch directories in all, 1 of them without an owner",
	} {
		if got := extent(a, c); got != want {
			t.Errorf("%s on %s: %q, want %q", a.Rule, a.Source, got, want)
		}
	}
}

// An alert that is younger than what it says tells both apart.
func TestLifeTellsWhatBeganEarlier(t *testing.T) {
	a := &alerts.Alert{State: alerts.StateFiring, Since: noon.Add(-6 * time.Second), Bounds: alerts.Bounds{Latest: noon.Add(-11 * time.Minute)}}
	if got := life(a, noon); got != "firing; Sandglass has seen it for 6s" {
		t.Error(got)
	}
	a.Bounds.Latest = a.Since
	if got := life(a, noon); got != "firing for 6s" {
		t.Error(got)
	}
}

// Of a path that differs between subjects the narrow form keeps the end.
func TestLongPathsKeepTheirEnd(t *testing.T) {
	if got := longPath.ReplaceAllString("ENOTEMPTY: directory not empty, rmdir '/tmp/sandglass-1488098311/tmp/helix-ws-n080ap'", "$1$2/…$3"); got != "ENOTEMPTY: directory not empty, rmdir '/tmp/…/helix-ws-n080ap'" {
		t.Error(got)
	}
	for _, same := range []string{"GET https://r2.example.com/bucket/ws-9fcf4aae: connect timeout", "rmdir '/tmp/helix-ws-1'"} {
		if got := longPath.ReplaceAllString(same, "$1$2/…$3"); got != same {
			t.Error(got)
		}
	}
}

// Beside workspaces that fail the scope counts the others of their provider that worked since.
func TestTheScopeSaysWhetherOthersWork(t *testing.T) {
	ws := func(id, provider string, success time.Duration) *backend.Workspace {
		w := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID(id), ID: backend.MustID("box")}}}
		w.Provider, w.LastSuccessAt = backend.Clean(provider, 40), backend.Known(noon.Add(-success))
		return w
	}
	bad, good, old, other := ws("s1", "r2", time.Hour), ws("s2", "r2", time.Minute), ws("s3", "r2", time.Hour), ws("s4", "docker", time.Minute)
	tried := ws("s5", "r2", time.Hour)
	tried.LastAttemptAt = backend.Known(noon.Add(-time.Minute))
	a := &alerts.Alert{Rule: "hammered-and-failing", Source: "a", State: alerts.StateFiring, SubjectCount: 1, Providers: 1,
		Bounds: alerts.Bounds{Latest: noon.Add(-10 * time.Minute)}, Subjects: []alerts.Subject{{Key: bad.Key}}}
	for want, all := range map[string][]*backend.Workspace{"; 1 other of r2 worked since": {bad, good, old, other}, "; tried since: 1 other of r2, none worked": {bad, tried, other}, "": {bad, old, other}} {
		c := views.NewSnapshot(noon, &fleet.State{Workspaces: fleet.NewTable(all...)}, &alerts.Board{Alerts: []*alerts.Alert{a}})
		if got := extent(a, c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		bad.Provider = backend.Safe{}
		if got := extent(a, c); got != "" {
			t.Errorf("without a provider: %q", got)
		}
		bad.Provider = backend.Text("r2")
	}
}

// An application of a platform has the name that people gave it; where two have one name, the id tells them apart.
func TestAnApplicationIsCalledByItsName(t *testing.T) {
	key := func(id string) backend.Key {
		return backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID(id)}
	}
	pool := func(id, name string) backend.Pool {
		return backend.Pool{ID: backend.MustID(id), Name: backend.Clean(name, 40)}
	}
	h := &fleet.SourceHealth{Key: key("cf"), Pools: []backend.Pool{pool("6f1d", "agents"), pool("7a01", "twin"), pool("9be2", "twin")}}
	c := views.NewSnapshot(noon, &fleet.State{Sources: []*fleet.SourceHealth{h}}, &alerts.Board{})
	for id, want := range map[string]string{"cf/6f1d": "cf/agents", "cf/7a01": "cf/7a01", "cf/gone": "cf/gone", "cf": "cf"} {
		if got := (sourceKind{}).name(key(id), c); got.String() != want {
			t.Errorf("%s is called %s, want %s", id, got, want)
		}
	}
}

// The short form of a server's own failure is its status, not a piece of an address.
func TestAServersOwnFailureIsBrief(t *testing.T) {
	if got := brief("http://127.0.0.1:3799/client/v4/accounts/5a4d/containers/applications?x answered 500 Internal Server Error: Internal server error"); got.String() != "server error 500" {
		t.Error(got)
	}
	if got := brief("https://h answered 418 I'm a teapot"); !got.IsEmpty() {
		t.Error(got)
	}
}
