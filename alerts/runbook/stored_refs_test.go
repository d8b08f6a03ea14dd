package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func savedRef(session string, version backend.Value[int], edit ...func(*backend.Ref)) *backend.Ref {
	r := &backend.Ref{Meta: meta(backend.Key{Kind: backend.KindRef, Source: "helix-eu", Parent: backend.MustID(session), ID: backend.MustID("box")}),
		Session: backend.MustID(session), Workspace: backend.MustID("box"), SchemaVersion: version}
	for _, e := range edit {
		e(r)
	}
	return r
}

func TestPage6HasAHistogramOfVersions(t *testing.T) {
	none := backend.NotApplicable[int]()
	w := world{saved: []*backend.Ref{savedRef("s1", backend.Known(3)), savedRef("s2", backend.Known(3)), savedRef("s3", backend.Known(4)), savedRef("s4", none)}}
	d := w.diagnose("6", sourceKeyOf("helix-eu"))
	want(t, d, map[string]Mark{"versions": Confirmed, "unversioned": Confirmed})
	if fact := factOf(t, d, "versions"); fact != "2 of version 3, 1 of version 4, 1 without a schemaVersion" {
		t.Error(fact)
	}
	if fact := factOf(t, d, "unversioned"); fact != "1 of 4 references without a schemaVersion: a release before round 4 wrote them" {
		t.Error(fact)
	}
	if !anyHas(d.Do, "Upgrade to round 4 or later") || !anyHas(d.Do, "sandglass refs check --reads LOW..HIGH") {
		t.Error(d.Do)
	}
	d = world{saved: []*backend.Ref{savedRef("s1", backend.Known(3))}}.diagnose("6", sourceKeyOf("helix-eu"))
	want(t, d, map[string]Mark{"versions": RuledOut, "unversioned": RuledOut})
	if anyHas(d.Do, "Upgrade") {
		t.Error(d.Do)
	}
	want(t, world{}.diagnose("6", sourceKeyOf("helix-eu")), map[string]Mark{"versions": CannotTell, "unversioned": CannotTell})
}

func TestPage6SeesAContainerNewerThanItsReference(t *testing.T) {
	for _, c := range []struct {
		name         string
		made, saved  time.Duration // ago
		workspace    string
		want         Mark
		undatedSaved bool
	}{
		{"newer", 10 * time.Minute, time.Hour, "box", Confirmed, false},
		{"older", 2 * time.Hour, time.Hour, "box", RuledOut, false},
		{"of another workspace", 10 * time.Minute, time.Hour, "notes", CannotTell, false},
		{"no time of saving", 10 * time.Minute, time.Hour, "box", CannotTell, true},
	} {
		w := world{sessions: []*backend.Session{session("s1", true)},
			sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.CreatedAt, b.Workspace = at(c.made), backend.MustID(c.workspace) })},
			saved: []*backend.Ref{savedRef("s1", backend.Known(3), func(r *backend.Ref) {
				if !c.undatedSaved {
					r.SavedAt = at(c.saved)
				}
			})}}
		d := w.diagnose("6", sessionKey("s1"))
		want(t, d, map[string]Mark{"newer": c.want})
		if c.want == Confirmed && (!strings.Contains(d.Conclusion.String(), "another sandbox than the reference was written for") || d.NoReset.IsEmpty()) {
			t.Errorf("%s: %s", c.name, d.Conclusion)
		}
	}
}
