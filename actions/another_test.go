package actions

import (
	"strings"
	"testing"
	"time"
)

// TestATargetThatIsAnotherOneIsToldAsThat, with when it was started or made, whatever else changed; what these facts do not tell is told by
// the first fact that changed.
func TestATargetThatIsAnotherOneIsToldAsThat(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 12, 0, 0, 5e6, time.UTC)
	of := func(state, container string, started time.Time) []Fact {
		return []Fact{{"state", state}, {FactContainer, container}, {FactStarted, Born(started)}}
	}
	for name, c := range map[string]struct {
		was, is []Fact
		want    string
	}{
		"started again":     {of("running", "c0", at), of("running", "c0", at.Add(time.Millisecond)), "its container is another one, started at 2026-01-01T12:00:00.006Z"},
		"another container": {of("running", "c0", at), of("starting", "c5", at.Add(time.Hour)), "its container is another one, started at 2026-01-01T13:00:00.005Z"},
		"no time is told":   {of("running", "c0", time.Time{}), of("running", "c5", time.Time{}), "its container is another one"},
		"the first one":     {of("unknown", "", time.Time{}), of("running", "c0", at), "it has a container now, started at 2026-01-01T12:00:00.005Z"},
		"the same one":      {of("running", "c0", at), of("stopped", "c0", at), "state was running and is stopped"},
		"none any more":     {of("running", "c0", at), of("running", "", time.Time{}), "container was c0 and is "},
		"made again":        {[]Fact{{"status", "DEPLOYED"}, {FactCreated, Born(at)}}, []Fact{{"status", "DEPLOYED"}, {FactCreated, Born(at.Add(time.Hour))}}, "it is another one of the same name, created at 2026-01-01T13:00:00.005Z"},
	} {
		if got := difference(c.was, c.is).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
