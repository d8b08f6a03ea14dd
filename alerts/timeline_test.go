package alerts

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// A source that looks back at its start tells the same changes at every start; the timeline has each of them once.
func TestMarkersThatAreToldAgainStandOnTheTimelineOnce(t *testing.T) {
	dir := t.TempDir()
	l := newLamp(t, Meta{})
	deploy := backend.Event{Kind: backend.EventChange, At: l.now, SourceAt: l.now.Add(-time.Hour), Source: "deploys", Name: "deploy", Text: backend.Text("6.4.2")}
	later := deploy
	later.SourceAt = l.now.Add(-time.Minute)
	undated := deploy
	undated.SourceAt = time.Time{}
	for range 3 {
		s := openStore(t, dir, l.engine)
		svc := l.service(t, s, nil)
		if err := svc.Record(deploy, later, deploy); err != nil {
			t.Fatal(err)
		}
		if got := svc.Timeline(10); len(got) != 2 {
			t.Errorf("the timeline has %d events: %+v", len(got), got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := openStore(t, dir, l.engine)
	svc := l.service(t, s, nil)
	if err := svc.Record(undated, undated); err != nil {
		t.Fatal(err)
	}
	if got := svc.Timeline(10); len(got) != 4 {
		t.Errorf("what carries no time of its own happened as often as it was told; got %d events", len(got))
	}
}

// A line of 5 MB that something else wrote hides no event, before or after it, and is told.
func TestALongLineHidesNoEvent(t *testing.T) {
	at := time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC)
	file := &lineFile{filepath.Join(t.TempDir(), timelineFile)}
	note := func(text string) []backend.Event {
		return []backend.Event{{Kind: backend.EventNote, At: at, Name: "note", Text: backend.Textf("%s", text)}}
	}
	texts := func(tl *timeline) string {
		var out []string
		for _, e := range tl.written {
			out = append(out, e.Text.String())
		}
		return strings.Join(out, ",")
	}
	first := timeline{file: file}
	first.take(true, note("before"))
	if err := first.write(); err != nil {
		t.Fatal(err)
	}
	if err := file.add(false, bytes.Repeat([]byte("x"), 5<<20)); err != nil {
		t.Fatal(err)
	}
	first.take(true, note("after"))
	second := timeline{file: file}
	for _, tl := range []*timeline{&first, &second} {
		if err := tl.write(); err == nil || !strings.Contains(err.Error(), "1 line of "+file.path) {
			t.Errorf("told %v", err)
		}
		if got := texts(tl); got != "before,after" {
			t.Errorf("events %q", got)
		}
	}
}

// A changed status of one sandbox or session is known to the next process; what a platform says besides is asked of it again.
func TestChangedStatusesAreKept(t *testing.T) {
	l := newLamp(t, Meta{})
	s := openStore(t, t.TempDir(), l.engine)
	svc := l.service(t, s, func(*ServiceOptions) {})
	st := l.state("off")
	key := func(kind backend.Kind) backend.Key {
		return backend.Key{Kind: kind, Source: "s", ID: backend.MustID("x")}
	}
	event := func(name string, about backend.Key) backend.Event {
		return backend.Event{Kind: backend.EventPlatform, At: l.now, Source: "s", Name: name, Subject: about, Text: backend.Textf("%s of %s", backend.Clean(name, 20), backend.Clean(string(about.Kind), 20))}
	}
	st.Events = []backend.Event{event("status", key(backend.KindSession)), event("pause", key(backend.KindSandbox)), event("link", key(backend.KindSandbox)),
		event("status", backend.Key{}), event("create", key(backend.KindSandbox))}
	svc.Observe(st)
	if got := len(svc.Timeline(10)); got != 5 {
		t.Errorf("%d events here", got)
	}
	svc.Close()
	var got []string
	for _, e := range l.service(t, s, func(*ServiceOptions) {}).Timeline(10) {
		got = append(got, e.Text.String())
	}
	slices.Sort(got)
	if text := strings.Join(got, ", "); text != "link of sandbox, pause of sandbox, status of session" {
		t.Errorf("the next process knows %q", text)
	}
}
