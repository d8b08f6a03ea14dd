package docker

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
)

const soon = time.Minute // a deadline that no answer of the fake meets

func TestAnswersHaveTheirMeaning(t *testing.T) {
	for _, c := range []struct {
		name   string
		verb   actions.Verb
		status int
		text   string
		after  string // state afterwards; empty: as before
		want   string // changed, uncertain, failed, done
		words  string
	}{
		{"stopped by itself", actions.Stop, 304, "", stateExited, "changed", "ended by itself"},
		{"stop fails", actions.Stop, 500, "tried to kill container, but did not receive an exit event", "", "failed", "did not receive an exit event"},
		{"gone", actions.Stop, 404, "No such container: x", "", "changed", "no such container any more"},
		{"being removed", actions.Destroy, 409, "removal of container x is already in progress", "", "changed", "removing it already"},
		{"gone before it is destroyed", actions.Destroy, 404, "No such container: x", "", "changed", "no such container any more"},
		{"paused by another", actions.Pause, 409, "Container x is already paused", statePaused, "changed", "it is paused now"},
		{"paused by another, old engine", actions.Pause, 500, "Container x is already paused", statePaused, "changed", "it is paused now"},
		{"removed meanwhile, as Podman says it", actions.Destroy, 500, "container x does not exist in database: no such container", "", "changed", "no such container any more"},
		{"pause fails", actions.Pause, 500, "cgroup freezer is not supported", "", "failed", "freezer is not supported"},
		{"forbidden by a proxy", actions.Stop, 403, "only GET is allowed here", "", "failed", "only GET is allowed here"},
		{"a proxy lost the engine", actions.Stop, 502, "bad gateway", "", "uncertain", "answered 502"},
		{"a secret in an answer", actions.Stop, 500, "token our-own-secret is bad", "", "failed", "masked"},
		{"stopped", actions.Stop, 204, "", stateExited, "done", "calls it exited"},
		{"starts the run that is there", actions.Restart, 204, "", "", "accepted", "another run began is not seen"},
		{"restart fails", actions.Restart, 500, "cannot restart container: no such device", "", "failed", "no such device"},
		{"paused", actions.Pause, 204, "", statePaused, "done", "calls it paused"},
		{"accepted and not so", actions.Pause, 204, "", "", "accepted", "calls it running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			f.answer = func(w http.ResponseWriter, r *http.Request, _ string) bool {
				if r.Method != http.MethodPost && r.Method != http.MethodDelete {
					return false
				}
				if c.after != "" {
					f.set(c.after)
				}
				switch c.status {
				case http.StatusNoContent, http.StatusNotModified:
					w.WriteHeader(c.status)
				default:
					f.fail(w, c.status, c.text)
				}
				return true
			}
			done, err := f.do(c.verb, soon)
			var changed *actions.ChangedError
			var uncertain *actions.UncertainError
			got, words := "failed", ""
			switch {
			case err == nil && done.Proved:
				got, words = "done", done.Text.String()
			case err == nil:
				got, words = "accepted", done.Text.String()
			case errors.As(err, &changed):
				got, words = "changed", err.Error()
			case errors.As(err, &uncertain):
				got, words = "uncertain", err.Error()
			default:
				words = err.Error()
			}
			if got != c.want || !strings.Contains(words, c.words) || strings.Contains(words, "our-own-secret") {
				t.Errorf("%s: %q", got, words)
			}
			sent := 0
			for _, r := range f.requests() {
				if !strings.HasPrefix(r, "GET ") && !strings.HasPrefix(r, "HEAD ") {
					sent++
				}
			}
			if sent != 1 {
				t.Errorf("%d requests that change something: %q", sent, f.requests())
			}
		})
	}
}

// A refused command has the kind that all platforms share, and says nothing about the container.
func TestRefusedCommandsHaveAKind(t *testing.T) {
	for status, kind := range map[int]backend.FailureKind{403: backend.FailUnauthorised, 429: backend.FailThrottled, 503: backend.FailControl5xx, 400: ""} {
		f := newFake(t)
		f.answer = func(w http.ResponseWriter, r *http.Request, _ string) bool {
			if r.Method == http.MethodPost {
				f.fail(w, status, "no")
			}
			return r.Method == http.MethodPost
		}
		done, err := f.do(actions.Probe, soon)
		v, _ := backend.Observation{Verdicts: done.Observed}.Of(backend.PlaneExec)
		if err == nil || v.Outcome != backend.OutcomeUnknown || v.Kind != kind {
			t.Errorf("%d: %s of kind %q, want %q: %v", status, v.Outcome, v.Kind, kind, err)
		}
	}
}

func TestDestroyTakesAnonymousVolumesAndProves(t *testing.T) {
	f := newFake(t)
	removed := false
	f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
		switch {
		case r.Method == http.MethodDelete:
			removed = true
			w.WriteHeader(http.StatusNoContent)
		case removed && strings.HasSuffix(path, "/json"):
			f.fail(w, http.StatusNotFound, "No such container: x")
		default:
			return false
		}
		return true
	}
	done, err := f.do(actions.Destroy, soon)
	if err != nil || !done.Proved || !slices.Contains(f.requests(), "DELETE /containers/"+boxID+"?force=1&v=1") {
		t.Errorf("%+v, %v, asked %q", done, err, f.requests())
	}
}

// What was sent and not answered is not known; it is sent once.
func TestLostAnswersAreUncertain(t *testing.T) {
	for _, how := range []string{"silence", "hang up"} {
		t.Run(how, func(t *testing.T) {
			over := make(chan struct{})
			defer close(over)
			// On a busy machine it is not even sent before a short deadline: then it is tried with a longer one.
			for deadline, sent := 30*time.Millisecond, 0; sent == 0; deadline *= 4 {
				f := newFake(t)
				f.answer = func(w http.ResponseWriter, r *http.Request, _ string) bool {
					if r.Method != http.MethodDelete {
						return false
					}
					if how == "hang up" {
						panic(http.ErrAbortHandler)
					}
					<-over
					return true
				}
				_, err := f.do(actions.Destroy, deadline)
				sent = strings.Count(strings.Join(f.requests(), "\n"), "DELETE")
				if sent == 0 && deadline < soon {
					continue
				}
				var uncertain *actions.UncertainError
				if !errors.As(err, &uncertain) || sent != 1 {
					t.Fatalf("sent %d times: %v", sent, err)
				}
			}
		})
	}
}

func TestNothingIsSentToAnEngineThatIsNotThere(t *testing.T) {
	f := newFake(t)
	p := f.parts(soon)[actions.Destroy]
	c := lookAt(t, p, known(sandbox()))
	e, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := e.(*effect).client
	f.stop()
	_, err = h.destroy(t.Context(), box(), actions.Target{Key: c.Key})
	var uncertain *actions.UncertainError
	if err == nil || errors.As(err, &uncertain) || !strings.Contains(err.Error(), "not sent") {
		t.Errorf("%v", err)
	}
	if got := lookAt(t, p, known(sandbox())); got.Why.IsEmpty() {
		t.Error("a container of an engine that does not answer is a target")
	}
}

func TestAnotherRunIsNotTheTarget(t *testing.T) {
	f := newFake(t)
	p := f.parts(soon)[actions.Destroy]
	c := lookAt(t, p, known(sandbox()))
	e, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	for i := range c.Identity {
		other := slices.Clone(c.Identity)
		other[i].Value = "other"
		var changed *actions.ChangedError
		if _, err := e.Do(t.Context(), actions.Target{Key: c.Key, Identity: other}, actions.Params{}); !errors.As(err, &changed) {
			t.Errorf("%s differs: %v", other[i].Name, err)
		}
	}
	if s := strings.Join(f.requests(), "\n"); strings.Contains(s, "DELETE") {
		t.Errorf("asked %s", s)
	}
}

// A command that does not end is not known to have failed.
func TestCommandThatDoesNotEnd(t *testing.T) {
	f := newFake(t)
	over := make(chan struct{})
	defer close(over)
	f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
		switch {
		case strings.HasSuffix(path, "/exec"):
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"Id":"e1"}`))
		case path == "exec/e1/start":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return true
			}
			defer func() { _ = conn.Close() }()
			_, _ = conn.Write([]byte("HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"))
			<-over
		default:
			return false
		}
		return true
	}
	done, err := f.do(actions.Probe, 50*time.Millisecond)
	if v, _ := seen(done).Of(backend.PlaneExec); err != nil || v.Outcome != backend.OutcomeFailed || v.Kind != backend.FailExecTimeout || !strings.Contains(v.What.String(), "may be running still") || len(done.Observed) != 3 {
		t.Errorf("%+v %v", done, err)
	}
}

func TestTroubleOf(t *testing.T) {
	const oci = "OCI runtime exec failed: exec failed: "
	for text, want := range map[string]startFailure{
		oci + `unable to start container process: chdir to cwd ("/work") set in config.json failed: no such file or directory: unknown`:                                    troubleMissing,
		oci + `container_linux.go:380: starting container process caused: chdir to cwd ("/w") set in config.json failed: no such file or directory: unknown`:               troubleMissing,
		oci + "unable to start container process: current working directory is outside of container mount namespace root -- possible container breakout detected: unknown": troubleUnlinked,
		oci + `unable to start container process: exec: "true": executable file not found in $PATH: unknown`:                                                               troubleProgram,
		oci + `unable to start container process: exec: "/bin/true": stat /bin/true: no such file or directory: unknown`:                                                   troubleProgram,
		"crun: chdir to `/work`: No such file or directory: OCI runtime attempted to invoke a command that was not found":                                                  troubleMissing,
		"crun: executable file `true` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found":                         troubleProgram,
		oci + `unable to start container process: chdir to cwd ("/work") set in config.json failed: permission denied: unknown`:                                            troubleDenied,
	} {
		if got := troubleOf(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
		if !refused(126, text) || refused(1, text) || refused(126, "sh: not permitted") {
			t.Errorf("%s: whether it began", text)
		}
	}
}

func TestVerdictsComeFromLaterReadings(t *testing.T) {
	issued := noon
	box := func(class backend.SandboxClass, read time.Time) *fleet.State {
		b := sandbox()
		b.Class, b.Reported, b.ReadAt = class, backend.Text("a word"), read
		s := known(b)
		s.Wall = read
		s.Sources[0].LastOK = read
		return s
	}
	gone := func(at time.Time) *fleet.State {
		s := known()
		s.Wall, s.Sources[0].LastOK = at, at
		return s
	}
	later, earlier := noon.Add(time.Second), noon.Add(-time.Second)
	down := gone(later)
	down.Sources[0].Status = fleet.StatusDown
	stale := box(backend.SandboxExited, later)
	stale.Sources[0].Status = fleet.StatusDown
	for _, c := range []struct {
		name string
		verb actions.Verb
		s    *fleet.State
		want actions.Result
	}{
		{"exited later", actions.Stop, box(backend.SandboxExited, later), actions.ResultVerified},
		{"exited, as read before", actions.Stop, box(backend.SandboxExited, earlier), actions.ResultAccepted},
		{"exited, says a source that is down", actions.Stop, stale, actions.ResultAccepted},
		{"runs still", actions.Stop, box(backend.SandboxRunning, later), actions.ResultAccepted},
		{"stopped and gone", actions.Stop, gone(later), actions.ResultEnded},
		{"not listed by a source that is down", actions.Stop, down, actions.ResultAccepted},
		{"paused", actions.Pause, box(backend.SandboxPaused, later), actions.ResultVerified},
		{"started", actions.Start, box(backend.SandboxRunning, later), actions.ResultVerified},
		{"started, and ended again", actions.Start, box(backend.SandboxExited, later), actions.ResultAccepted},
		{"restarted", actions.Restart, box(backend.SandboxRunning, later), actions.ResultVerified},
		{"resumed", actions.Resume, box(backend.SandboxRunning, later), actions.ResultVerified},
		{"destroyed", actions.Destroy, gone(later), actions.ResultVerified},
		{"destroyed, listed still", actions.Destroy, box(backend.SandboxRemoving, later), actions.ResultAccepted},
		{"destroyed, source down", actions.Destroy, down, actions.ResultAccepted},
	} {
		t.Run(c.name, func(t *testing.T) {
			part, _ := (&clientFactory{}).part(c.verb)
			if got := part.Verifier.Verify(actions.Target{Key: key(boxID)}, issued, c.s); got.Result != c.want || got.Why.IsEmpty() {
				t.Errorf("%+v, want %s", got, c.want)
			}
		})
	}
	for _, v := range []actions.Verb{actions.Repair, actions.Probe} {
		if part, _ := (&clientFactory{}).part(v); part.Verifier != nil {
			t.Errorf("%s has a verifier, and no reading shows the inside of a container", v)
		}
	}
}

// A container that runs still is not a restarted one: the reading must show another run than the plan saw.
func TestARestartIsAnotherRun(t *testing.T) {
	planned := noon.Add(-41 * time.Minute)
	target := actions.Target{Key: key(boxID), Identity: []actions.Fact{{Name: "started", Value: planned.Format(time.RFC3339Nano)}}}
	for _, c := range []struct {
		started backend.Value[time.Time]
		want    actions.Result
	}{
		{backend.Known(planned), actions.ResultAccepted},
		{backend.Unknown[time.Time](), actions.ResultAccepted},
		{backend.Known(noon), actions.ResultVerified},
	} {
		b := sandbox()
		b.StartedAt, b.ReadAt = c.started, noon.Add(time.Second)
		s := known(b)
		s.Wall, s.Sources[0].LastOK = b.ReadAt, b.ReadAt
		if got := (newRunVerifier{}).Verify(target, noon, s); got.Result != c.want {
			t.Errorf("started %v: %+v, want %s", c.started, got, c.want)
		}
	}
}

// What another client started first was not started by the plan.
func TestAStartThatCameTooLate(t *testing.T) {
	f := newFake(t)
	f.set(stateExited)
	f.answer = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method != http.MethodPost {
			return false
		}
		f.set(stateRunning)
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	_, err := f.do(actions.Start, soon)
	if changed := (*actions.ChangedError)(nil); !errors.As(err, &changed) || !strings.Contains(err.Error(), "another client started it") {
		t.Errorf("%v", err)
	}
}

func TestBuild(t *testing.T) {
	build := func(src backend.Source, o backendtest.Options[Options], verbs ...actions.Verb) (map[actions.Verb]actions.Part, map[actions.Verb]backend.Safe, error) {
		return Kind().Build(actions.Site{Source: src, Options: o, Allowed: verbs, Deps: backend.Deps{ID: "d", Dial: (&net.Dialer{}).DialContext}})
	}
	f := newFake(t)
	if parts, missing, err := build(f, nil, actions.Pause); err != nil || len(parts) != 1 || len(missing) != 0 || !parts[actions.Pause].ReadsItself {
		t.Errorf("%v %v %v", parts, missing, err)
	}
	if parts, missing, err := build(nil, nil, actions.Pause, actions.Stop); err != nil || len(parts) != 0 || len(missing) != 2 {
		t.Errorf("a source that cannot say where its engine is: %v %v %v", parts, missing, err)
	}
	if len(f.requests()) != 0 {
		t.Errorf("building asked %q", f.requests())
	}
	for want, o := range map[string]backendtest.Options[Options]{
		"probe_command": func(o *Options) { o.ProbeCommand = nil },
		"stop_timeout":  func(o *Options) { o.StopTimeout = backend.Duration(time.Hour) },
	} {
		if _, _, err := build(f, o, actions.Stop); err == nil || !strings.Contains(err.Error(), want+": ") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Podman leaves a container that it stopped between two runs as "stopped" now and then, for ever. No run follows: it has ended.
func TestAStopBetweenTwoRunsIsProved(t *testing.T) {
	f := newFake(t)
	ended := time.Time{}
	f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
		switch {
		case r.Method == http.MethodPost:
			ended = time.Now().Add(-4 * time.Second)
			w.WriteHeader(http.StatusNoContent)
		case path == "containers/"+boxID+"/json":
			state, at := stateRunning, ended
			if !ended.IsZero() {
				state = "stopped"
			}
			_, _ = fmt.Fprintf(w, `{"Id":%q,"Created":"2026-11-21T10:00:34.6Z","Image":"sha256:1d3a","Name":"/web-eval-12","RestartCount":3,
				"State":{"Status":%q,"StartedAt":"2026-11-21T11:19:00Z","FinishedAt":%q},"HostConfig":{"Runtime":"oci","RestartPolicy":{"Name":"always"}},"Mounts":[],"Config":{}}`,
				boxID, state, at.Format(time.RFC3339Nano))
		default:
			return false
		}
		return true
	}
	done, err := f.do(actions.Stop, soon)
	if err != nil || !done.Proved || done.Text.String() != "the engine calls it exited" {
		t.Errorf("%+v, %v", done, err)
	}
}

// crashLoop makes the fake a crash loop of Podman that answers its orders in turn, the last one for ever; after the given number of them
// the container has ended, or is gone.
func crashLoop(t *testing.T, statuses []int, endsAfter int, gone bool) (*fake, func() int) {
	f := newFake(t)
	orders := 0
	f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
		over := endsAfter > 0 && orders >= endsAfter
		switch {
		case r.Method == http.MethodPost || r.Method == http.MethodDelete:
			status := statuses[min(orders, len(statuses)-1)]
			if orders++; status < 300 {
				w.WriteHeader(status)
			} else {
				f.fail(w, status, "container state improper: no such process")
			}
		case path != "containers/"+boxID+"/json":
			return false
		case over && gone:
			f.fail(w, http.StatusNotFound, "No such container: x")
		default:
			state := stateRunning
			if over {
				state = stateExited
			}
			_, _ = fmt.Fprintf(w, `{"Id":%q,"Created":"2026-11-21T10:00:34.6Z","Image":"sha256:1d3a","Name":"/web-eval-12","RestartCount":%d,
				"State":{"Status":%q,"StartedAt":"2026-11-21T11:19:00Z"},"HostConfig":{"Runtime":"oci","RestartPolicy":{"Name":"always"}},"Mounts":[],"Config":{}}`, boxID, 3+orders, state)
		}
		return true
	}
	return f, func() int { return orders }
}

// A stop that meets the engine's own restart is refused or comes to nothing: what runs on is stopped again, and one that does not end says
// how often and why. What the engine refuses for another reason is not repeated.
func TestAStopThatMeetsARestartIsGivenAgain(t *testing.T) {
	for name, c := range map[string]struct {
		statuses []int
		ends     int
		orders   int
		proved   bool
		says     string
	}{
		"refused, then stopped":           {[]int{500, 204}, 2, 2, true, "the engine calls it exited"},
		"refused, though it ended":        {[]int{500}, 1, 1, true, "the engine calls it exited"},
		"refused again and again":         {[]int{204, 500, 500, 500, 500, 500, 500, 204}, 8, 8, true, "the engine calls it exited"},
		"never ends":                      {[]int{204}, 0, mostStops, false, "told to stop 12 times, and its restart policy began the next run each time (restarted 3 times before, 15 now)"},
		"never ends, and is refused":      {[]int{500}, 0, mostStops, false, "no such process; it was told to stop 12 times"},
		"refused for who it is that asks": {[]int{403}, 0, 1, false, "the engine refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			f, orders := crashLoop(t, c.statuses, c.ends, false)
			done, err := f.do(actions.Stop, soon)
			said := done.Text.String()
			if err != nil {
				said = err.Error()
			}
			if done.Proved != c.proved || !strings.Contains(said, c.says) || orders() != c.orders {
				t.Errorf("%d orders, proved %t: %s", orders(), done.Proved, said)
			}
		})
	}
}

// A removal that Podman refuses since a run begins just then is given again; a container that is being removed is left to that.
func TestARemovalThatMeetsARestartIsGivenAgain(t *testing.T) {
	f, orders := crashLoop(t, []int{409, 500, 204}, 3, true)
	if done, err := f.do(actions.Destroy, soon); err != nil || !done.Proved || orders() != 3 {
		t.Errorf("%d orders: %+v, %v", orders(), done, err)
	}
}
