package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// Every rule says what its alerts mean for the users' work.
func TestEveryRuleNamesItsImpact(t *testing.T) {
	known := impacts()
	for _, r := range rules.Defaults() {
		name := r.Meta().Name
		if _, is := known[name]; !is {
			t.Errorf("%s has no impact", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is no rule", name)
	}
}

// Full capacity does not say that running sandboxes go on where some were evicted, nor where nobody can know it.
func TestCapacityKnowsOfEvictions(t *testing.T) {
	full := &alerts.Alert{Rule: "capacity", Source: "a", State: alerts.StateFiring}
	subject := alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "a"}}
	storm := func(source string) *alerts.Alert {
		return &alerts.Alert{Rule: "eviction-storm", Source: source, State: alerts.StateFiring, SubjectCount: 36, Subjects: []alerts.Subject{subject}}
	}
	for source, want := range map[string]string{"a": "; 36 workspaces lost their sandbox", "b": "; no eviction is seen"} {
		c := views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{full, storm(source)}})
		if got := impact(full, c); !strings.HasSuffix(got, want) {
			t.Errorf("storm on %s: %q", source, got)
		}
	}
}

// A cause is shown as no younger than the alerts that it explains.
func TestACauseIsNotYoungerThanItsEffects(t *testing.T) {
	cause := &alerts.Alert{ID: "c", State: alerts.StateFiring, Inhibits: 1, Bounds: alerts.Bounds{Earliest: noon.Add(-40 * time.Second), Latest: noon.Add(-19 * time.Second)}}
	effect := &alerts.Alert{ID: "e", State: alerts.StateFiring, InhibitedBy: "c", Bounds: alerts.Bounds{Latest: noon.Add(-time.Minute)}}
	c := views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{cause, effect}})
	if got := Onset(first(cause, c), noon); got != "≥ 1m" {
		t.Errorf("cause: %q", got)
	}
	if got := Onset(first(effect, c), noon); got != Onset(effect, noon) {
		t.Errorf("effect: %q", got)
	}
}

// What only a running container can do is not offered for one that exited.
func TestVerbsThatNeedARunningContainer(t *testing.T) {
	key := backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("c1")}
	for class, want := range map[backend.SandboxClass]string{backend.SandboxExited: "it does not run", backend.SandboxRunning: ""} {
		st := &fleet.State{Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: key}, Class: class})}
		c := views.NewSnapshot(noon, st, nil)
		if got := Unfit(actions.Pause, []backend.Key{key}, c).String(); got != want {
			t.Errorf("pause of one that is %s: %q", class, got)
		}
		if got := Unfit(actions.Destroy, []backend.Key{key}, c); !got.IsEmpty() {
			t.Errorf("destroy of one that is %s: %q", class, got)
		}
	}
}

// What is over harms nobody now: its impact is not told in the present tense.
func TestAnAlertThatIsOverHasNoImpactNow(t *testing.T) {
	for _, state := range []alerts.AlertState{alerts.StateEnded, alerts.StateResolved} {
		for name := range impacts() {
			if got := impact(&alerts.Alert{Rule: name, State: state, SubjectCount: 4}, nil); !strings.HasPrefix(got, "none seen now") {
				t.Errorf("%s %s: %s", name, state, got)
			}
		}
	}
}
