package alerts

import (
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
