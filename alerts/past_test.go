package alerts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
)

var pastNow = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func pastWorkspace(session string) *backend.Workspace {
	return &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID(session), ID: backend.MustID("box")}, ReadAt: pastNow},
		Reported: backend.Text("open"), LastSuccessAt: backend.Known(pastNow.Add(-time.Minute)),
		WorkspaceFacts: backend.WorkspaceFacts{Provider: backend.Text("cloudflare-sandbox"), ProviderID: backend.MustID("sbx-1"), DestroyOnClose: backend.Known(true)}}
}

// TestWhatLeftIsRemembered: also by another process on the same state directory, whether it was there or gone at the save.
func TestWhatLeftIsRemembered(t *testing.T) {
	e := NewEngine(nil, "test")
	w, stays := pastWorkspace("s1"), pastWorkspace("s2")
	first := &fleet.State{Number: 1, Wall: pastNow, Workspaces: fleet.NewTable(w, stays)}
	b, _ := e.Next(nil, first)
	if _, ok := b.Past(w.Key); ok {
		t.Error("what is there is asked of the State")
	}
	second := &fleet.State{Number: 2, Wall: pastNow.Add(10 * time.Second), Mono: 10 * time.Second, Workspaces: fleet.NewTable(stays),
		Delta: fleet.Delta{Gone: []fleet.Departure{{Key: w.Key, Last: w, Why: backend.Text("its session ended"), At: pastNow.Add(10 * time.Second)}}}}
	b, _ = e.Next(b, second)
	check := func(how string, b *Board, k backend.Key, left bool) {
		t.Helper()
		p, ok := b.Past(k)
		x, _ := p.Entity.(*backend.Workspace)
		if !ok || x == nil || x.Provider.String() != "cloudflare-sandbox" || !x.DestroyOnClose.Or(false) || x.ProviderID.Raw() != "sbx-1" || !x.LastSuccessAt.Or(time.Time{}).Equal(pastNow.Add(-time.Minute)) || !x.Stale {
			t.Fatalf("%s: %+v %v", how, p, ok)
		}
		if p.Left.IsZero() == left {
			t.Errorf("%s: it left at %v", how, p.Left)
		}
	}
	check("in the same process", b, w.Key, true)
	at := ClockReading{Wall: pastNow.Add(20 * time.Second), Boot: "b", SinceBoot: time.Hour}
	data, err := encoded(b, at)
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.decode(data, at)
	if err != nil {
		t.Fatal(err)
	}
	check("in another process", l.Board, w.Key, true)
	check("what was there at the save", l.Board, stays.Key, false)
	var form map[string]json.RawMessage
	if err := json.Unmarshal(data, &form); err != nil {
		t.Fatal(err)
	}
	delete(form, "past")
	data, _ = json.Marshal(form)
	if l, err = e.decode(data, at); err != nil || len(l.Board.PastOf(backend.KindWorkspace)) != 0 {
		t.Errorf("a state file of the former form: %v", err)
	}
	back := &fleet.State{Number: 3, Wall: pastNow.Add(time.Minute), Mono: time.Minute, Workspaces: fleet.NewTable(w, stays), Delta: fleet.Delta{Changed: []backend.Key{w.Key}}}
	if b, _ = e.Next(b, back); len(b.PastOf(backend.KindWorkspace)) != 0 {
		t.Error("what came back is remembered as gone")
	}
}

func TestTheMemoryIsBounded(t *testing.T) {
	e := NewEngine(nil, "test")
	b, _ := e.Next(nil, &fleet.State{Number: 1, Wall: pastNow})
	d := fleet.Delta{}
	for i := range 3 * maxPast {
		w := pastWorkspace(fmt.Sprint("s", i))
		d.Gone = append(d.Gone, fleet.Departure{Key: w.Key, Last: w, At: pastNow.Add(time.Duration(i) * time.Millisecond)})
	}
	b, _ = e.Next(b, &fleet.State{Number: 2, Wall: pastNow.Add(time.Minute), Mono: time.Minute, Delta: d})
	if all := b.PastOf(backend.KindWorkspace); len(all) != maxPast {
		t.Errorf("%d are remembered", len(all))
	}
	if _, ok := b.Past(d.Gone[len(d.Gone)-1].Key); !ok {
		t.Error("the newest was dropped")
	}
	w := pastWorkspace("late")
	b, _ = e.Next(b, &fleet.State{Number: 3, Wall: pastNow.Add(pastSpan + time.Hour), Mono: pastSpan + time.Hour,
		Delta: fleet.Delta{Gone: []fleet.Departure{{Key: w.Key, Last: w, At: pastNow.Add(pastSpan + time.Hour)}}}})
	if all := b.PastOf(backend.KindWorkspace); len(all) != 1 {
		t.Errorf("%d are remembered after a day", len(all))
	}
}

// TestEndsAreEvents: of sessions, of registries that close, and of scratch directories; many at once are one event.
func TestEndsAreEvents(t *testing.T) {
	session := func(id string) backend.Key {
		return backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID(id)}
	}
	dir := &backend.Tmpdir{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindTmpdir, Source: "host", Parent: backend.MustID("h"), ID: backend.MustID("8:1:/tmp/helix-ws-a")}}, Path: backend.Text("/tmp/helix-ws-a")}
	paused := &backend.Session{Meta: backend.Meta{Key: session("s2")}, Running: backend.Known(false)}
	w := pastWorkspace("s2")
	st := &fleet.State{Number: 2, Wall: pastNow, Sessions: fleet.NewTable(paused), Delta: fleet.Delta{Gone: []fleet.Departure{
		{Key: session("s1"), Last: &backend.Session{Meta: backend.Meta{Key: session("s1")}}, Why: backend.Text("its owner says that it ended")},
		{Key: w.Key, Last: w, Why: backend.Text("its session ended")}, {Key: dir.Key, Last: dir, Why: backend.Text("absent from two complete lists")}}}}
	var got []string
	for _, e := range ends(st) {
		got = append(got, e.Name+": "+e.Text.String())
	}
	want := "session-ended: session s1 ended: its owner says that it ended | session-ended: session s2 ended: its registry closed | directory-removed: scratch directory /tmp/helix-ws-a removed: absent from two complete lists"
	if strings.Join(got, " | ") != want {
		t.Errorf("%s", strings.Join(got, " | "))
	}
	st.Delta.Gone = nil
	for i := range 400 {
		k := session(fmt.Sprint("x", i))
		st.Delta.Gone = append(st.Delta.Gone, fleet.Departure{Key: k, Last: &backend.Session{Meta: backend.Meta{Key: k}}, Why: backend.Text("its owner says that it ended")})
	}
	if all := ends(st); len(all) != 1 || len(all[0].About) != 100 || !strings.HasPrefix(all[0].Text.String(), "400 sessions ended") {
		t.Errorf("%d events", len(all))
	}
}

// TestWhatAProbeProvedIsKnownToTheNextProcess on the same state directory.
func TestWhatAProbeProvedIsKnownToTheNextProcess(t *testing.T) {
	e := NewEngine(nil, "test")
	k := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("b1")}
	x := &backend.Sandbox{Meta: backend.Meta{Key: k}, Observed: backend.Known(backendtest.Ran(false, backend.Text("has no /workspace"), pastNow))}
	b, _ := e.Next(nil, &fleet.State{Number: 1, Wall: pastNow, Sandboxes: fleet.NewTable(x)})
	for range 2 { // the second process reads nothing of it
		data, err := encoded(b, ClockReading{Wall: pastNow})
		if err != nil {
			t.Fatal(err)
		}
		l, err := e.decode(data, ClockReading{Wall: pastNow})
		if err != nil {
			t.Fatal(err)
		}
		svc := &Service{adopted: l.Board}
		if vs := svc.Proved()[k]; len(vs) != 1 || vs[0].What.String() != "has no /workspace" || vs[0].Kind != backend.FailWorkDirMissing || !vs[0].At.Equal(pastNow) {
			t.Errorf("%+v", vs)
		}
		b, _ = e.Next(l.Board, &fleet.State{Number: 1, Wall: pastNow})
	}
}

// TestTheTimelineKeepsEnds: another process on the same state directory reads them; one that may not save leaves them to the holder.
func TestTheTimelineKeepsEnds(t *testing.T) {
	l := newLamp(t, Meta{})
	dir := t.TempDir()
	end := backend.Event{Kind: backend.EventPlatform, At: l.now, Source: "helix", Name: EventSessionEnded, Text: backend.Text("session s1 ended: its owner says that it ended")}
	s := openStore(t, dir, l.engine)
	svc := l.service(t, s, nil)
	svc.addToTimeline([]backend.Event{end})
	if got := svc.Timeline(10); len(got) != 1 {
		t.Errorf("in the same process: %+v", got)
	}
	svc.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := l.service(t, openStore(t, dir, l.engine), nil).Timeline(10); len(got) != 1 || got[0].Text != end.Text {
		t.Errorf("in another process: %+v", got)
	}
}

// TestNamesOutliveTheirSubjects: a container and a directory that a former process read are known by name once they are gone,
// with the moments between which they left.
func TestNamesOutliveTheirSubjects(t *testing.T) {
	e := NewEngine(nil, "test")
	ok := func(id string, status fleet.SourceStatus) *fleet.SourceHealth {
		return &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}, Status: status}
	}
	meta := func(kind backend.Kind, source, id string) backend.Meta {
		return backend.Meta{Key: backend.Key{Kind: kind, Source: source, ID: backend.MustID(id)}, ReadAt: pastNow}
	}
	box := &backend.Sandbox{Meta: meta(backend.KindSandbox, "docker", "b1"), Name: backend.Text("web"), Image: backend.Text("img:1")}
	dir := &backend.Tmpdir{Meta: meta(backend.KindTmpdir, "host", "8:1:/tmp/helix-ws-a"), Path: backend.Text("/tmp/helix-ws-a"), RawPath: backend.MustID("/tmp/helix-ws-a")}
	b, _ := e.Next(nil, &fleet.State{Number: 1, Wall: pastNow, Sandboxes: fleet.NewTable(box), Tmpdirs: fleet.NewTable(dir),
		Sources: []*fleet.SourceHealth{ok("docker", fleet.StatusOK), ok("host", fleet.StatusOK)}})
	again := func() {
		t.Helper()
		data, err := encoded(b, ClockReading{Wall: pastNow})
		if err != nil {
			t.Fatal(err)
		}
		l, err := e.decode(data, ClockReading{Wall: pastNow})
		if err != nil {
			t.Fatal(err)
		}
		b = l.Board
	}
	again()
	read := pastNow.Add(time.Minute)
	b, _ = e.Next(b, &fleet.State{Number: 1, Wall: read, Sources: []*fleet.SourceHealth{ok("docker", fleet.StatusOK), ok("host", fleet.StatusDown)}})
	again()
	p, _ := b.Past(box.Key)
	if from, to := p.Gone(); !from.Equal(pastNow) || !to.Equal(read) || p.Entity.(*backend.Sandbox).Name.String() != "web" {
		t.Errorf("the container: %+v, gone between %v and %v", p.Entity, from, to)
	}
	p, _ = b.Past(dir.Key)
	if from, to := p.Gone(); !from.Equal(pastNow) || !to.IsZero() || backend.Alias(p.Entity) != "/tmp/helix-ws-a" {
		t.Errorf("the directory, whose source is down: %+v, gone between %v and %v", p.Entity, from, to)
	}
	b, _ = e.Next(b, &fleet.State{Number: 2, Wall: read, Sandboxes: fleet.NewTable(box), Delta: fleet.Delta{Changed: []backend.Key{box.Key}}})
	if _, is := b.Past(box.Key); is {
		t.Error("what is there again is remembered as gone")
	}
}

// TestALaterProcessKnowsTheSandboxesThatWereThere when the one before ended, and none that had left.
func TestALaterProcessKnowsTheSandboxesThatWereThere(t *testing.T) {
	e := NewEngine(nil, "test")
	box := func(id string) *backend.Sandbox {
		return &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID(id)}, ReadAt: pastNow}, Session: backend.MustID("s1")}
	}
	stays, left := box("aaaa"), box("bbbb")
	b, _ := e.Next(nil, &fleet.State{Number: 1, Wall: pastNow, Sandboxes: fleet.NewTable(stays, left)})
	b, _ = e.Next(b, &fleet.State{Number: 2, Wall: pastNow.Add(time.Second), Mono: time.Second, Sandboxes: fleet.NewTable(stays),
		Delta: fleet.Delta{Gone: []fleet.Departure{{Key: left.Key, Last: left, At: pastNow.Add(time.Second)}}}})
	at := ClockReading{Wall: pastNow.Add(20 * time.Second), Boot: "b", SinceBoot: time.Hour}
	data, err := encoded(b, at)
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.decode(data, at)
	if err != nil {
		t.Fatal(err)
	}
	svc := NewService(e, ServiceOptions{})
	if all := svc.FormerSandboxes(); len(all) > 0 {
		t.Errorf("a first process knows %d", len(all))
	}
	svc.adopted = l.Board
	if all := svc.FormerSandboxes(); len(all) != 1 || all[0].Key != stays.Key || all[0].Session.Raw() != "s1" {
		t.Errorf("%+v", all)
	}
}
