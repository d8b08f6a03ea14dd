package docker

import (
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// checking turns the checks on.
func checking(o *Options) {
	o.WorkdirSweep, o.FrozenAfter = backend.Duration(30*time.Second), backend.Duration(time.Minute)
}

// verdict is what a reading says of a plane of a container.
func verdict(t *testing.T, r backend.Reading, id string, p backend.Plane) (backend.Verdict, bool) {
	t.Helper()
	return find(t, r, id).Observed.Or(backend.Observation{}).Of(p)
}

// TestWorkingDirectoriesAreFoundByThemselves: the first poll already says what each is.
func TestWorkingDirectoriesAreFoundByThemselves(t *testing.T) {
	dir := fs.ModeDir | 0o755
	for name, x := range map[string]struct {
		paths   map[string]any
		mounts  string
		state   string
		outcome backend.Outcome
		kind    backend.FailureKind
		what    string
		shows   string // in the evidence
	}{
		"there":        {paths: map[string]any{"/work": dir}, outcome: backend.OutcomeOK, what: "the working directory /work is there"},
		"paused":       {paths: map[string]any{"/work": dir}, state: "paused", outcome: backend.OutcomeOK, what: "is there"},
		"missing":      {outcome: backend.OutcomeFailed, kind: backend.FailWorkDirMissing, what: "the working directory /work is missing", shows: "nothing is mounted at /work"},
		"dangling":     {paths: map[string]any{"/work": "/gone"}, outcome: backend.OutcomeFailed, kind: backend.FailWorkDirDangling, what: "is a link to /gone, which is missing", shows: "nothing is mounted at /gone"},
		"on a volume":  {paths: map[string]any{"/work": "/v/gone"}, mounts: `[{"Type":"volume","Name":"data","Destination":"/v","RW":false}]`, outcome: backend.OutcomeFailed, kind: backend.FailWorkDirDangling, shows: "/v/gone is on the volume data, mounted read-only at /v"},
		"a valid link": {paths: map[string]any{"/work": "/x", "/x": dir}, outcome: backend.OutcomeOK, what: "is a link to the directory /x"},
		"a file":       {paths: map[string]any{"/work": fs.FileMode(0o644)}, outcome: backend.OutcomeFailed, kind: backend.FailWorkDirNoDir, what: "/work is not a directory"},
		"in memory":    {paths: map[string]any{"/work": "/dev/shm"}, outcome: backend.OutcomeNotTried, what: "cannot be looked at from outside"},
		"bind mount":   {mounts: `[{"Type":"bind","Source":"/srv/x","Destination":"/work","RW":true}]`, outcome: backend.OutcomeNotTried},
		"an error":     {paths: map[string]any{"/work": 500}, outcome: backend.OutcomeUnknown, what: "is not known"},
		"a shut one":   {paths: map[string]any{"/work": fs.ModeDir | 0o600}, outcome: backend.OutcomeFailed, kind: backend.FailUnauthorised, what: "user 1000 may not enter", shows: "/work has mode 0600"},
	} {
		f := newFake(t)
		f.add(&fakeContainer{id: "x", name: "x", labels: map[string]string{"sandglass.session": "s"}, paths: x.paths, mounts: x.mounts, state: x.state, status: "Up 3 seconds", user: map[bool]string{true: "1000"}[name == "a shut one"]})
		f.add(&fakeContainer{id: "neighbour", name: "n", labels: map[string]string{"sandglass.session": "s"}, paths: map[string]any{"/work": dir}})
		f.add(&fakeContainer{id: "foreign", name: "f"})
		s, _ := f.source(checking)
		r := mustPoll(t, s)
		v, found := verdict(t, r, "x", backend.PlaneList)
		if !found || v.Outcome != x.outcome || v.Kind != x.kind || !v.Passive || !strings.Contains(v.What.String(), x.what) || !strings.Contains(fmt.Sprint(v.Evidence), x.shows) {
			t.Errorf("%s: %+v", name, v)
		}
		if v, _ := verdict(t, r, "neighbour", backend.PlaneList); v.Outcome != backend.OutcomeOK {
			t.Errorf("%s: the neighbour: %+v", name, v)
		}
		if _, found := verdict(t, r, "foreign", backend.PlaneList); found {
			t.Errorf("%s: a container that is no sandbox is looked at", name)
		}
		if asked := f.taken(); name == "bind mount" && countOf(asked, "/x/archive") != 0 {
			t.Errorf("the engine was asked, and makes host directories again: %q", asked)
		}
	}
}

// TestAPollOfACommandHasItsOwnChecks: nothing asks again after a command, so that what its polls look at is in their readings, also
// what a slow engine takes longer for than a console waits. A console has it in the poll after.
func TestAPollOfACommandHasItsOwnChecks(t *testing.T) {
	t.Parallel()
	for _, console := range []bool{false, true} {
		f := newFake(t)
		b := f.add(&fakeContainer{id: "x", name: "x", labels: map[string]string{"sandglass.session": "s"}, paths: map[string]any{"/work": fs.ModeDir | 0o755}})
		f.hold = make(chan struct{})
		release := time.AfterFunc(2*firstPatience+500*time.Millisecond, func() { close(f.hold) })
		t.Cleanup(func() { release.Stop() })
		s, c := f.source(checking)
		poll := func() backend.Reading {
			t.Helper()
			if console {
				return mustPoll(t, s)
			}
			r, err := s.Poll(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if v, found := verdict(t, poll(), "x", backend.PlaneList); found == console || !console && v.Outcome != backend.OutcomeOK {
			t.Errorf("console %v: a slow engine: %+v", console, v)
		}
		<-f.hold
		f.change(func() { b.paths = nil })
		c.Add(checkedAgain)
		r := poll()
		if console {
			r = poll()
		}
		if v, _ := verdict(t, r, "x", backend.PlaneList); v.Kind != backend.FailWorkDirMissing {
			t.Errorf("console %v: the next poll: %+v", console, v)
		}
	}
}

// checkedAgain is after how long each container is due again.
const checkedAgain = 30 * time.Second

// TestCheckedWithinTheGap: a quiet minute of 200 containers costs two looks at each, beside what it cost before; what changes is
// found within one sweep, and its poll comes at once.
func TestCheckedWithinTheGap(t *testing.T) {
	f := newFake(t)
	dir := map[string]any{"/work": fs.ModeDir | 0o755}
	for i := range 200 {
		f.add(&fakeContainer{id: fmt.Sprintf("c%03d", i), name: fmt.Sprint("n", i), labels: map[string]string{"sandglass.session": fmt.Sprint(i)}, paths: dir})
	}
	s, c := f.source(func(o *Options) { checking(o); o.StatsSweep, o.FrozenAfter = 0, 0 })
	s.check.first = time.Minute // however busy this machine is
	if mustPoll(t, s); countOf(f.taken(), "/archive") != 200 {
		t.Fatal("the first poll does not look at all")
	}
	changed, _ := watching(t, s)
	minute := func() int {
		for range 12 {
			c.Add(5 * time.Second)
			mustPoll(t, s)
		}
		return countOf(f.taken(), "/archive")
	}
	minute()
	minute()
	if n := minute(); n < 400 || n > 500 {
		t.Errorf("a minute costs %d looks", n)
	}
	f.change(func() { f.containers["c100"].paths = nil })
	for i := 0; ; i++ {
		c.Add(5 * time.Second)
		mustPoll(t, s)
		if len(changed) > 0 {
			break
		}
		if i > 6 {
			t.Fatal("the removed directory is not found within one sweep")
		}
	}
	r := mustPoll(t, s)
	if v, _ := verdict(t, r, "c100", backend.PlaneList); v.Kind != backend.FailWorkDirMissing {
		t.Errorf("%+v", v)
	}
}

// TestRefusedChecksStop: a proxy that allows no HEAD on the archive is not asked for each container again and again.
func TestRefusedChecksStop(t *testing.T) {
	f := newFake(t)
	for i := range 50 {
		f.add(&fakeContainer{id: fmt.Sprint("c", i), name: fmt.Sprint("n", i), labels: map[string]string{"sandglass.session": "s"}, paths: map[string]any{"/work": http.StatusForbidden}})
	}
	s, c := f.source(func(o *Options) { checking(o); o.StatsSweep, o.FrozenAfter = 0, 0 })
	r := mustPoll(t, s)
	first := countOf(f.taken(), "/archive")
	for range 24 {
		c.Add(5 * time.Second)
		mustPoll(t, s)
	}
	if notes := fmt.Sprint(r.Notes); !strings.Contains(notes, "working directories are not looked at") {
		t.Error(notes)
	}
	if n := countOf(f.taken(), "/archive"); first > 20 || n != 0 {
		t.Errorf("asked %d times at first and %d later", first, n)
	}
	if o := find(t, r, "c0").Observed; o.Or(backend.Observation{}).Outcome() == backend.OutcomeFailed {
		t.Errorf("%+v", o)
	}
}

// TestALinkThatLeadsElsewhereIsAnEvent and no trouble.
func TestALinkThatLeadsElsewhereIsAnEvent(t *testing.T) {
	f := newFake(t)
	dir := fs.ModeDir | 0o755
	b := f.add(&fakeContainer{id: "x", name: "web", labels: map[string]string{"sandglass.session": "s"}, paths: map[string]any{"/work": "/a", "/a": dir, "/b": dir}})
	s, c := f.source(checking)
	mustPoll(t, s)
	f.change(func() { b.paths["/work"] = "/b" })
	var told []string
	for range 8 {
		c.Add(5 * time.Second)
		r := mustPoll(t, s)
		for _, e := range r.Events {
			told = append(told, e.Text.String())
		}
		for _, b := range r.Sandboxes {
			if len(b.Observed.Or(backend.Observation{}).Failed()) > 0 {
				t.Errorf("%+v", b.Observed)
			}
		}
	}
	if len(told) != 1 || told[0] != "the working directory /work of container web leads to /b now; it led to /a" {
		t.Errorf("%q", told)
	}
}

// TestFrozenMainProcess: it is called frozen after the threshold and not before, and well again when it goes on.
func TestFrozenMainProcess(t *testing.T) {
	f := newFake(t)
	dir := map[string]any{"/work": fs.ModeDir | 0o755}
	box := func(id, threads, state string) *fakeContainer {
		return f.add(&fakeContainer{id: id, name: id, labels: map[string]string{"sandglass.session": id}, paths: dir, threads: threads, state: state, status: "Up 3 minutes"})
	}
	well, ill := box("well", "SSR", "running"), box("ill", "SSR", "running")
	box("paused", "DDD", "paused")
	s, c := f.source(func(o *Options) { checking(o); o.StatsSweep = 0 })
	mustPoll(t, s)
	watching(t, s)
	began, frozenAt := c.Now(), time.Duration(0)
	f.change(func() { well.threads = "SDD" })
	state := map[string]backend.Verdict{}
	play := func(until func() bool) time.Duration {
		for c.Now().Sub(began) < 40*time.Minute && !until() {
			c.Add(5 * time.Second)
			for _, b := range mustPoll(t, s).Sandboxes {
				if v, found := b.Observed.Or(backend.Observation{}).Of(backend.PlaneDriver); found {
					state[b.Name.String()] = v
				}
			}
		}
		return c.Now().Sub(began)
	}
	play(func() bool {
		return state["ill"].Outcome == backend.OutcomeOK && state["well"].Outcome == backend.OutcomeOK
	})
	f.taken()
	f.change(func() { ill.threads = "TTT" })
	from := c.Now().Sub(began)
	s.Attend(backend.Attention{Alerting: []backend.Key{s.key(backend.MustID("ill"))}})
	frozenAt = play(func() bool { return state["ill"].Outcome == backend.OutcomeFailed }) - from
	v := state["ill"]
	if frozenAt < time.Minute || frozenAt > 2*time.Minute || v.Kind != backend.FailServerFrozen || !strings.Contains(v.What.String(), "all of its threads are stopped for at least 1m") {
		t.Errorf("frozen after %v: %+v", frozenAt, v)
	}
	if seen := v.At.Sub(v.Since); v.Since.IsZero() || seen < time.Minute || seen > 2*time.Minute || !strings.Contains(fmt.Sprint(v.Evidence), v.Since.UTC().Format(time.RFC3339)) {
		t.Errorf("first seen %v before: %+v", seen, v)
	}
	if n := countOf(f.taken(), "/top"); n > 8 {
		t.Errorf("%d looks at processes in %v", n, frozenAt)
	}
	f.change(func() { ill.threads = "SSR" })
	play(func() bool { return state["ill"].Outcome == backend.OutcomeOK })
	if state["ill"].Outcome != backend.OutcomeOK || state["well"].Outcome != backend.OutcomeOK {
		t.Errorf("%+v", state)
	}
	if _, found := state["paused"]; found {
		t.Error("a paused container's process is looked at")
	}
}

func TestCheckOptions(t *testing.T) {
	for _, set := range []func(*Options){func(o *Options) { o.WorkdirSweep = backend.Duration(time.Second) }, func(o *Options) { o.FrozenAfter = backend.Duration(time.Second) }} {
		if _, err := Kind().New(backendtest.Options[Options](set), backend.Deps{ID: "d"}); err == nil {
			t.Error("accepted")
		}
	}
}
