package docker

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/events"

	"sandglass/backend"
)

func plain(f *fakeEngine) *Source {
	s, _ := f.source(nil)
	return s
}

// A pod's infra container has the labels and mounts of the pod, and is no sandbox.
func TestPodmanInfraContainerIsNoSandbox(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "111280215e11-infra", labels: map[string]string{"sandglass.session": "s1"}})
	f.add(&fakeContainer{id: "b", name: "agent-infra", labels: map[string]string{"sandglass.session": "s1"}})
	r := mustPoll(t, plain(f))
	if b := find(t, r, "a"); b.IsSandbox || b.Judged() {
		t.Errorf("infra container: %+v", b)
	}
	if b := find(t, r, "b"); !b.IsSandbox {
		t.Errorf("another container: %+v", b)
	}
}

// Podman says remove for destroy, cleanup when an end is written down, and health_status after each check.
func TestPodmanEvents(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "a", labels: map[string]string{"sandglass.session": "s1"}, stateJSON: `,"StartedAt":"2026-11-21T10:00:34Z","Health":{"Status":"starting","FailingStreak":0,"Log":null}`})
	f.add(&fakeContainer{id: "b", name: "b", labels: map[string]string{"sandglass.session": "s1"}})
	s := plain(f)
	mustPoll(t, s)
	watching(t, s)
	health := func(status string) backend.Reading {
		f.change(func() {
			f.containers["a"].stateJSON = fmt.Sprintf(`,"StartedAt":"2026-11-21T10:00:34Z","Health":{"Status":%q,"FailingStreak":0,"Log":null}`, status)
		})
		s.take(lifecycle{action: "health_status", id: "a", name: "a", at: time.Unix(1795412400+int64(len(status)), 0)})
		return mustPoll(t, s)
	}
	told := func(r backend.Reading) (out []string) {
		for _, e := range r.Events {
			out = append(out, e.Text.String())
		}
		return out
	}
	if got := told(health("starting")); len(got) > 0 {
		t.Errorf("a check that changed nothing is told: %q", got)
	}
	if got := told(health("unhealthy")); !slices.Equal(got, []string{"container a is unhealthy by its health check"}) {
		t.Errorf("told %q", got)
	}
	for _, action := range []string{"died", "cleanup", "remove"} {
		s.take(lifecycleOf(events.Message{Action: events.Action(action), Actor: events.Actor{ID: "b", Attributes: map[string]string{"name": "b"}}, TimeNano: 1795412500e9}))
	}
	f.change(func() { delete(f.containers, "b") })
	r := mustPoll(t, s)
	if got := told(r); !slices.Equal(got, []string{"container b ended", "container b was removed"}) || !slices.Contains(r.Ended, s.key(backend.MustID("b"))) {
		t.Errorf("told %q, ended %v", got, r.Ended)
	}
}

// Podman's list fails when a container ends while it is made.
func TestAListThatFailsOnceIsAskedForAgain(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "a", labels: map[string]string{"sandglass.session": "s1"}})
	failed := 0
	f.override = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/containers/json") || failed > 0 {
			return false
		}
		failed++
		http.Error(w, `{"message":"read /proc/3506/cgroup: no such process"}`, http.StatusInternalServerError)
		return true
	}
	if r := mustPoll(t, plain(f)); len(r.Sandboxes) != 1 || failed != 1 {
		t.Errorf("%d sandboxes, failed %d times", len(r.Sandboxes), failed)
	}
}

// API 1.52 dropped status, id and from of events, and the old fields of NetworkSettings.
func TestNewestEngine(t *testing.T) {
	f := newFake(t)
	f.api = "1.56"
	f.add(&fakeContainer{id: "a", name: "a", labels: map[string]string{"sandglass.session": "s1"}})
	s := plain(f)
	mustPoll(t, s)
	changed, _ := watching(t, s)
	f.emit(`{"Type":"container","Action":"oom","Actor":{"ID":"a","Attributes":{"image":"agent:1","name":"a"}},"scope":"local","time":1795412400,"timeNano":1795412400000000001}`)
	<-changed
	r := mustPoll(t, s)
	if len(r.Events) != 1 || r.Events[0].Name != "oom" || !f.versions["1.56"] {
		t.Errorf("events %+v, versions %v", r.Events, f.versions)
	}
}

// Podman has no back-off. What it calls stopped begins the next run at once, or stays as it is for ever.
func TestPodmanStoppedForEverIsExited(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "a", labels: map[string]string{"sandglass.session": "s1"}, state: "stopped", policy: "always", runtime: "oci",
		restarts: 3, stateJSON: exitedAt(time.Now().Add(-4*time.Second), 1, "")})
	s := plain(f)
	if b := find(t, mustPoll(t, s), "a"); b.Class != backend.SandboxRestarting {
		t.Fatalf("just ended: %s", b.Class)
	}
	watching(t, s) // nothing is told any more
	eventually(t, "no run follows", func() bool {
		for _, b := range mustPoll(t, s).Sandboxes {
			if b.Class == backend.SandboxExited {
				return true
			}
		}
		return false
	})
}
