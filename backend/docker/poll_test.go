package docker

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func TestStatesAreShownForWhatTheyAre(t *testing.T) {
	const times = `,"StartedAt":"2026-11-21T10:00:34Z","FinishedAt":"2026-11-21T10:00:35Z"`
	cases := []struct {
		state, status, more string
		class               backend.SandboxClass
		exit                int // -1: not applicable
		oom                 bool
		health              string
	}{
		{"created", "Created", `,"StartedAt":"0001-01-01T00:00:00Z","FinishedAt":"0001-01-01T00:00:00Z"`, backend.SandboxCreated, -1, false, ""},
		{"running", "Up 1 second", times, backend.SandboxRunning, -1, false, ""},
		{"running", "Up 1 second (unhealthy)", times + `,"Health":{"Status":"unhealthy","FailingStreak":4,"Log":[{"Start":"2026-11-21T10:00:34Z","End":"2026-11-21T10:00:35Z","ExitCode":1,"Output":"no API_KEY=sk-abcdefgh1234 here\n"}]}`, backend.SandboxRunning, -1, false, "unhealthy"},
		{"paused", "Up 1 second (Paused)", times, backend.SandboxPaused, -1, false, ""},
		{"restarting", "Restarting (3) 1 second ago", times + `,"ExitCode":3`, backend.SandboxRestarting, 3, false, ""},
		{"exited", "Exited (137) 1 second ago", times + `,"ExitCode":137,"OOMKilled":true`, backend.SandboxExited, 137, true, ""},
		{"dead", "Dead", times + `,"ExitCode":1`, backend.SandboxDead, 1, false, ""},
		{"removing", "Removal In Progress", times, backend.SandboxRemoving, 0, false, ""},
		{"zorp", "Zorp", times, backend.SandboxUnknown, 0, false, ""},
	}
	f := newFake(t)
	for i, c := range cases {
		f.add(&fakeContainer{id: fmt.Sprint("c", i), name: fmt.Sprint("box-", i), state: c.state, status: c.status, stateJSON: c.more})
	}
	s, _ := f.source(nil)
	r := mustPoll(t, s)
	for i, c := range cases {
		b := find(t, r, fmt.Sprint("c", i))
		if b.Class != c.class || b.Reported.String() != c.state {
			t.Errorf("%s: class %q, reported %q", c.state, b.Class, b.Reported)
		}
		if v, ok := b.ExitCode.Get(); c.exit < 0 && !b.ExitCode.IsNotApplicable() || c.exit >= 0 && (!ok || v != c.exit) {
			t.Errorf("%s: exit code %v, want %d", c.state, b.ExitCode, c.exit)
		}
		if v, ok := b.OOMKilled.Get(); !ok || v != c.oom {
			t.Errorf("%s: OOM killed %v, want %v", c.state, b.OOMKilled, c.oom)
		}
		if h := b.Health.Or(backend.Safe{}).String(); h != c.health || (c.health == "") != b.Health.IsNotApplicable() {
			t.Errorf("%s: health %q, want %q", c.state, h, c.health)
		}
		if _, started := b.StartedAt.Get(); started == (c.state == "created") {
			t.Errorf("%s: started %v", c.state, b.StartedAt)
		}
	}
	if out := find(t, r, "c2").HealthOutput.String(); strings.Contains(out, "sk-abc") || !strings.Contains(out, "here") {
		t.Errorf("health output %q", out)
	}
	if len(r.Scopes) != 1 || !r.Scopes[0].Complete || len(r.Inputs) != 1 || r.Inputs[0] != backend.InputContainers {
		t.Errorf("scopes %v, inputs %v", r.Scopes, r.Inputs)
	}
	if !find(t, r, "c0").StartedAt.IsNotApplicable() {
		t.Error("the year 1 is not shown as never")
	}
}

// TestAllContainersAreForLookingOnly: what no label marks counts for alerts and is no target.
func TestAllContainersAreForLookingOnly(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "labelled", name: "a", labels: map[string]string{"sandglass.session": "s1"}})
	f.add(&fakeContainer{id: "plain", name: "db"})
	for _, all := range []bool{true, false} {
		s, _ := f.source(func(o *Options) { o.AllContainers = all })
		r := mustPoll(t, s)
		if b := find(t, r, "plain"); b.IsSandbox || b.Watched != all || b.Judged() != all {
			t.Errorf("all_containers %v: the plain one is %v, watched %v", all, b.IsSandbox, b.Watched)
		}
		if b := find(t, r, "labelled"); !b.IsSandbox || b.Watched || !b.Judged() {
			t.Errorf("all_containers %v: the labelled one is %v, watched %v", all, b.IsSandbox, b.Watched)
		}
		if said := s.Marks().String(); !strings.Contains(said, "sandglass.session") || !strings.Contains(said, "selector") {
			t.Errorf("what makes a sandbox: %q", said)
		}
	}
}

func TestSelectionAndJoins(t *testing.T) {
	f := newFake(t)
	bind := func(src string) string {
		return fmt.Sprintf(`[{"Type":"bind","Source":%q,"Destination":"/work","Mode":"","RW":false,"Propagation":"rprivate"}]`, src)
	}
	f.add(&fakeContainer{id: "labelled", name: "a", labels: map[string]string{"sandglass.session": "s/1", "sandglass.workspace": "main"}})
	f.add(&fakeContainer{id: "mounted", name: "agent-s2-code", mounts: bind("/tmp/helix-ws-abc/repo/src")})
	f.add(&fakeContainer{id: "other", name: "agent-s3-code", mounts: bind("/tmp/helix-wz/x")})
	f.add(&fakeContainer{id: "volume", name: "db", mounts: `[{"Type":"volume","Source":"/tmp/helix-ws-abc","Destination":"/d","RW":true}]`})
	f.add(&fakeContainer{id: "selected", name: "z", labels: map[string]string{"tier": "agent", "who": "joe"}})
	check := func(set func(*Options), want string) backend.Reading {
		t.Helper()
		s, _ := f.source(set)
		r := mustPoll(t, s)
		var got []string
		for _, b := range r.Sandboxes {
			if b.IsSandbox {
				got = append(got, b.Key.ID.Raw())
			}
		}
		if strings.Join(got, " ") != want || len(r.Sandboxes) != 5 {
			t.Errorf("sandboxes %v of %d, want %s", got, len(r.Sandboxes), want)
		}
		return r
	}
	r := check(func(o *Options) { o.NamePattern = `^agent-(?P<session>[a-z0-9]+)-(?P<workspace>[a-z]+)$` }, "labelled mounted")
	if b := find(t, r, "labelled"); b.Session.Raw() != "s/1" || b.Workspace.Raw() != "main" {
		t.Errorf("joined by label to %q %q", b.Session.Raw(), b.Workspace.Raw())
	}
	if b := find(t, r, "mounted"); b.Session.Raw() != "s2" || b.Workspace.Raw() != "code" || b.Mounts[0].RawSource.Raw() != "/tmp/helix-ws-abc/repo/src" || !b.Mounts[0].ReadOnly {
		t.Errorf("joined by name to %q %q, mounts %v", b.Session.Raw(), b.Workspace.Raw(), b.Mounts)
	}
	check(func(o *Options) { o.Selector = "tier=agent" }, "selected")
	check(func(o *Options) { o.Selector = "tier=db" }, "")
	check(func(o *Options) { o.Selector = "who" }, "selected")
	check(func(o *Options) { o.SessionLabel, o.TmpdirPattern = "who", "" }, "selected")
}

func TestSecretsAndHostileTextNeverArrive(t *testing.T) {
	f := newFake(t)
	evil := "\x1b]0;pwned\a\u009b31m\u202ename"
	f.add(&fakeContainer{id: "x", name: evil, image: "agent:1", env: []string{"INNOCENT=enviro-value", "OPENAI_API_KEY=sk-envenvenvenv"},
		labels: map[string]string{"sandglass.session": evil, "api_token": "tok en label", "note": "our-own-secret", "api_password": "hunter22\x1b[2J"},
		cmd:    []string{"run", "--token", "cmdcmdcmd", "env", "MY_SECRET=argargarg", "x\x1b[2J"}, usage: 5000})
	s, _ := f.source(nil)
	r := mustPoll(t, s)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"enviro-value", "sk-env", "tok en label", "our-own-secret", "hunter22", "cmdcmdcmd", "argargarg"} {
		if strings.Contains(string(b), secret) {
			t.Errorf("%q is in the reading: %s", secret, b)
		}
	}
	for _, bad := range []string{"\x1b", "\u009b", "\u202e", "\a"} {
		if strings.Contains(string(b), bad) {
			t.Errorf("%q is in the JSON", bad)
		}
	}
	box := find(t, r, "x")
	if box.Session.Raw() != evil {
		t.Error("the raw identifier was changed")
	}
	if !strings.Contains(box.Raw.String(), `"WorkingDir":"/work"`) || strings.Contains(box.Raw.String(), "Env") {
		t.Errorf("raw reading: %s", box.Raw)
	}
}

func TestOneHangingContainerHidesNoOther(t *testing.T) {
	f := newFake(t)
	for i := range 30 {
		f.add(&fakeContainer{id: fmt.Sprint("c", i), name: fmt.Sprint("n", i)})
	}
	f.override = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.Contains(r.URL.Path, "/c7/"):
			<-r.Context().Done()
			return true
		case strings.Contains(r.URL.Path, "/c8/"):
			w.WriteHeader(500)
			fmt.Fprint(w, `{"message":"layer TOKEN=abcdefgh is broken"}`)
			return true
		case strings.Contains(r.URL.Path, "/c9/"):
			fmt.Fprint(w, `{"Id": "c9", "State": [`)
			return true
		}
		return false
	}
	s, c := f.source(nil)
	s.deps.Deadline = 300 * time.Millisecond
	r := mustPoll(t, s)
	if len(r.Sandboxes) != 30 || !r.Scopes[0].Complete || len(r.Stale) != 3 || len(r.Problems) != 3 {
		t.Fatalf("%d sandboxes, %d stale, problems %v", len(r.Sandboxes), len(r.Stale), r.Problems)
	}
	kinds := map[string]backend.ErrorKind{}
	for _, p := range r.Problems {
		kinds[p.Subject.ID.Raw()] = p.Kind
		if strings.Contains(p.What.String(), "abcdefgh") {
			t.Errorf("a secret in %q", p.What)
		}
	}
	if kinds["c7"] != backend.ErrTimeout || kinds["c8"] != backend.ErrUnreachable || kinds["c9"] != backend.ErrInvalid {
		t.Errorf("kinds %v", kinds)
	}
	if b := find(t, r, "c7"); !b.Stale || b.Class != backend.SandboxRunning || b.OOMKilled.IsKnown() || b.Name.String() != "n7" {
		t.Errorf("the hanging one: %+v", b)
	}
	if b := find(t, r, "c6"); b.Stale || !b.OOMKilled.IsKnown() {
		t.Errorf("a good one: %+v", b)
	}
	// It is not asked again at once, and once it answers it is whole again.
	f.change(func() { f.override = nil })
	f.taken()
	if r = mustPoll(t, s); len(r.Stale) != 3 || countOf(f.taken(), "/c7/json") != 0 {
		t.Error("the failed ones were asked again without a pause")
	}
	c.Add(time.Minute)
	if r = mustPoll(t, s); len(r.Stale) != 0 || find(t, r, "c7").Stale || !find(t, r, "c7").OOMKilled.IsKnown() {
		t.Error("recovered containers stay stale")
	}
}

func TestFailingListIsTheSourcesFailure(t *testing.T) {
	cases := []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		kind   backend.ErrorKind
	}{
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, backend.ErrUnreachable},
		{"403", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, backend.ErrUnauthorised},
		{"404", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, backend.ErrInvalid},
		{"429", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "7"); w.WriteHeader(429) }, backend.ErrThrottled},
		{"html", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, backend.ErrInvalid},
		{"wrong type", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a":1}`) }, backend.ErrInvalid},
		{"cut", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[{"Id":"a"`) }, backend.ErrInvalid},
		{"empty", func(http.ResponseWriter, *http.Request) {}, backend.ErrInvalid},
		{"hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, backend.ErrTimeout},
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			chunk := []byte(`"` + strings.Repeat("x", 1<<20))
			fmt.Fprint(w, `[{"Id":`)
			for r.Context().Err() == nil {
				if _, err := w.Write(chunk); err != nil {
					return
				}
				chunk[0] = 'x'
			}
		}, backend.ErrInvalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			f.add(&fakeContainer{id: "a", name: "a"})
			s, _ := f.source(nil)
			mustPoll(t, s)
			f.change(func() {
				f.override = func(w http.ResponseWriter, r *http.Request) bool {
					if strings.HasSuffix(r.URL.Path, "containers/json") {
						c.answer(w, r)
						return true
					}
					return false
				}
			})
			s.eng.(*moby).meter.limit = 2 << 20
			if c.name == "hang" {
				s.deps.Deadline = 100 * time.Millisecond
			}
			r, err := s.Poll(t.Context())
			if backend.KindOf(err) != c.kind || err == nil {
				t.Fatalf("error %v, want kind %s", err, c.kind)
			}
			if len(r.Scopes) != 0 {
				t.Error("a failed list claims a scope")
			}
			f.change(func() { f.override = nil })
			s.deps.Deadline = time.Minute
			if r = mustPoll(t, s); find(t, r, "a").Stale {
				t.Error("not well again")
			}
		})
	}
}

func TestUsageIsOurOwnArithmetic(t *testing.T) {
	f := newFake(t)
	t0 := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	x := f.add(&fakeContainer{id: "x", name: "x", usage: 5000, cpu: int64(time.Second), read: t0, memory: 1 << 20})
	f.add(&fakeContainer{id: "idle", name: "idle"})
	s, c := f.source(nil)
	s.Attend(backend.Attention{Visible: []backend.Key{s.key(backend.MustID("x"))}})
	u, ok := find(t, measured(t, s), "x").Usage.Get()
	if !ok || u.CPU.IsKnown() || u.Mem.Or(0) != 4000 || u.MemLimit.Or(0) != 1<<20 || u.PIDs.Or(0) != 2 {
		t.Fatalf("first sample %+v", u)
	}
	f.change(func() { x.cpu, x.read = int64(16*time.Second), t0.Add(10*time.Second) })
	c.Add(10 * time.Second)
	r := measured(t, s)
	if u, _ = find(t, r, "x").Usage.Get(); u.CPU.Or(0) != 1.5 || !u.At.Equal(c.Now()) {
		t.Errorf("second sample %+v", u)
	}
	if find(t, r, "idle").Usage.IsKnown() {
		t.Error("a container that nobody looks at and that is no sandbox was sampled")
	}
	f.change(func() { x.cpu, x.read = 5, t0.Add(20*time.Second) })
	c.Add(10 * time.Second)
	if u, _ = find(t, measured(t, s), "x").Usage.Get(); u.CPU.IsKnown() {
		t.Errorf("a counter that went back gave %v cores", u.CPU)
	}
	f.change(func() { x.state, x.status = "exited", "Exited (0) now" })
	c.Add(10 * time.Second)
	if u := find(t, measured(t, s), "x").Usage; !u.IsNotApplicable() {
		t.Errorf("a stopped container uses %v", u)
	}
}

func TestCgroup2MemoryAndOddSamples(t *testing.T) {
	f := newFake(t)
	at := time.Date(2026, 11, 21, 10, 0, 38, 0, time.UTC).Format(time.RFC3339Nano)
	f.add(&fakeContainer{id: "v2", name: "v2", stats: `{"read":"` + at + `","memory_stats":{"usage":900,"stats":{"inactive_file":100}},"cpu_stats":{"cpu_usage":{"total_usage":7}}}`})
	f.add(&fakeContainer{id: "more-cache", name: "c", stats: `{"read":"` + at + `","memory_stats":{"usage":900,"stats":{"inactive_file":901}}}`})
	f.add(&fakeContainer{id: "year1", name: "y", stats: `{"read":"0001-01-01T00:00:00Z","memory_stats":{},"cpu_stats":{"cpu_usage":{"total_usage":0}}}`})
	f.add(&fakeContainer{id: "broken", name: "b", stats: `{"read":17}`})
	s, _ := f.source(nil)
	var keys []backend.Key
	for _, id := range []string{"v2", "more-cache", "year1", "broken"} {
		keys = append(keys, s.key(backend.MustID(id)))
	}
	s.Attend(backend.Attention{Alerting: keys})
	r := measured(t, s)
	mem := func(id string) int64 { return find(t, r, id).Usage.Or(backend.Usage{}).Mem.Or(-1) }
	if mem("v2") != 800 || mem("more-cache") != 900 || find(t, r, "year1").Usage.IsKnown() || find(t, r, "broken").Usage.IsKnown() {
		t.Errorf("memory %d %d", mem("v2"), mem("more-cache"))
	}
	if len(r.Problems) != 1 || r.Problems[0].Subject.ID.Raw() != "broken" || len(r.Stale) != 0 {
		t.Errorf("problems %v", r.Problems)
	}
}

func TestClockOffsetCorrectsTimes(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "x", name: "x"})
	s, c := f.source(nil)
	c.Add(-time.Hour) // the engine is an hour ahead of us
	r := mustPoll(t, s)
	off, ok := r.ClockOffset.Get()
	if !ok || (off-time.Hour).Abs() > 2*time.Second {
		t.Fatalf("offset %v", r.ClockOffset)
	}
	want := time.Date(2026, 11, 21, 10, 0, 34, 924020797, time.UTC).Add(-off)
	if at := find(t, r, "x").StartedAt.Or(time.Time{}); !at.Equal(want) {
		t.Errorf("started %v, want %v", at, want)
	}
}

// FuzzAnswers feeds arbitrary bodies to every decoder: nothing panics, and nothing that acts on a terminal gets out.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`[{"Id":"a","Names":["/n"],"State":"running","Status":"Up (healthy)","Labels":{"a":"b"},"Mounts":[{"Type":"bind","Source":"/tmp"}]}]`))
	f.Add([]byte(`{"Id":"a","Created":"x","State":{"Status":"exited","Health":{"Status":"\u001b","Log":[null]}},"Config":{"Env":["A=b"],"Labels":null},"HostConfig":{},"Name":""}`))
	f.Add([]byte(`{"read":"2026-11-21T10:00:38Z","cpu_stats":{"cpu_usage":{"total_usage":18446744073709551615}},"memory_stats":{"usage":1,"stats":{"inactive_file":2}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		deps := backend.Deps{ID: "d", Now: time.Now, Cleaner: backend.NewCleaner(), Getenv: func(k string) string {
			return map[string]string{"DOCKER_HOST": "tcp://engine"}[k]
		}}
		s := newSource(defaults(), selection{tmpdir: "/tmp"}, deps)
		s.Attend(backend.Attention{Visible: []backend.Key{s.key(backend.MustID("a"))}})
		s.dial = func(a address, d backend.Deps) (engine, error) {
			m, err := newMoby(a, d)
			if err == nil {
				m.meter.base = answers{body}
			}
			return m, err
		}
		for range 2 {
			r, err := s.Poll(t.Context())
			text, jsonErr := json.Marshal(r)
			if jsonErr != nil {
				t.Fatal(jsonErr)
			}
			if err != nil {
				text = append(text, backend.Clean(err.Error(), 1000).String()...)
			}
			if strings.ContainsAny(string(text), "\x1b\u009b\u202e") {
				t.Fatalf("%q", text)
			}
		}
	})
}

// answers gives one body for everything, and a usable list where the body is none.
type answers struct{ body []byte }

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body := a.body
	if strings.HasSuffix(r.URL.Path, "/containers/json") && !strings.HasPrefix(string(body), "[") {
		body = []byte(`[{"Id":"a","State":"running"}]`)
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Api-Version": {"1.41"}}, Body: io.NopCloser(strings.NewReader(string(body))), Request: r}, nil
}

// An engine that lists nothing although it has 20 running containers is asked for each by its id.
func TestAListThatLosesHalfAtOnceIsNotBelieved(t *testing.T) {
	f := newFake(t)
	for i := range 20 {
		id := fmt.Sprintf("c%02d", i)
		f.add(&fakeContainer{id: id, name: id, labels: map[string]string{"sandglass.session": "s1"}})
	}
	s, c := f.source(nil)
	mustPoll(t, s)
	order := f.order
	f.change(func() { f.order = nil }) // the list is empty, the containers are there
	for range 3 {
		c.Add(time.Minute)
		r := mustPoll(t, s)
		if len(r.Sandboxes) != 20 || len(r.Ended) != 0 || !r.Unseen || !strings.Contains(r.Degraded.String(), "leaves out 20 containers that the engine still has") {
			t.Fatalf("%d sandboxes, %d ended, degraded %q", len(r.Sandboxes), len(r.Ended), r.Degraded)
		}
	}
	f.change(func() { f.order = order[:15]; delete(f.containers, order[19]) }) // named again, and one is removed
	c.Add(time.Minute)
	if r := mustPoll(t, s); len(r.Sandboxes) != 19 || len(r.Ended) != 1 {
		t.Fatalf("%d sandboxes, %d ended", len(r.Sandboxes), len(r.Ended))
	}
	f.change(func() { clear(f.containers) }) // all are really removed
	c.Add(time.Minute)
	if r := mustPoll(t, s); len(r.Sandboxes) != 0 || len(r.Ended) != 19 || r.Unseen {
		t.Fatalf("%d sandboxes, %d ended, unseen %v", len(r.Sandboxes), len(r.Ended), r.Unseen)
	}
}

// What a former run listed is asked for where the first list lost half or more of it, and what alerts in any case.
func TestTheFirstListIsComparedWithThatOfAFormerRun(t *testing.T) {
	f := newFake(t)
	key := func(id string) backend.Key {
		return backend.Key{Kind: backend.KindSandbox, Source: "d", ID: backend.MustID(id)}
	}
	for listed, want := range map[int]int{12: 12, 9: 1} {
		s, _ := f.source(nil)
		var a backend.Attention
		for i := range listed {
			k := key(fmt.Sprintf("c%02d", i))
			k.Source = s.ID()
			a.Listed = append(a.Listed, k)
		}
		a.Alerting = a.Listed[:1]
		s.Attend(a)
		if r := mustPoll(t, s); len(r.Ended) != want || len(r.Sandboxes) != 0 {
			t.Errorf("%d listed before: %d ended, want %d", listed, len(r.Ended), want)
		}
	}
}
