package blaxel

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
)

// TestACommandThatHangs is a failure where nothing of an answer came until our own deadline, and the same server answered another
// request after it. The list of processes that hangs too is evidence of that one failure, and none where a command ran.
func TestACommandThatHangs(t *testing.T) {
	for name, x := range map[string]struct {
		hangs   func(method, at string, commands int) bool
		outcome backend.Outcome
		kind    backend.FailureKind
		what    string
		proof   []string
	}{
		"its route": {func(_, at string, _ int) bool { return strings.HasSuffix(at, "/process") }, backend.OutcomeFailed, backend.FailExecTimeout,
			"true was not answered within 1s, while its server answered other requests; it may still run",
			[]string{"POST /process: nothing within 1s", "GET /process: nothing within 0s", "its server answered 1 request before it and 3 after it"}},
		"commands alone": {func(method, at string, _ int) bool {
			return method == http.MethodPost && strings.HasSuffix(at, "/process")
		}, backend.OutcomeFailed, backend.FailExecTimeout,
			"true was not answered within 1s", []string{"POST /process: nothing within 1s", "its server answered 2 requests before it and 3 after it"}},
		"the list alone": {func(method, at string, _ int) bool {
			return method == http.MethodGet && strings.HasSuffix(at, "/process")
		}, backend.OutcomeOK, "",
			"true ran in /workspace; its list of processes was not answered within 0s before", []string{"GET /process: nothing within 0s"}},
		"all from there": {func(_, _ string, commands int) bool { return commands > 0 }, backend.OutcomeUnknown, "", "whether a command runs is not known", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var commands atomic.Int64
			w.reads = 200 * time.Millisecond
			w.answer = func(_ http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "/sbx/") {
					return false
				}
				if r.Method == http.MethodPost {
					commands.Add(1)
				}
				if !x.hangs(r.Method, r.URL.EscapedPath(), int(commands.Load())) {
					return false
				}
				_, _ = io.Copy(io.Discard, r.Body) // only then is an end of the connection seen
				<-r.Context().Done()
				return true
			}
			done, _ := w.do(actions.Probe, actions.Params{})
			v := on(done, backend.PlaneExec)
			var proof []string
			for _, e := range v.Evidence {
				proof = append(proof, e.String())
			}
			if v.Outcome != x.outcome || v.Kind != x.kind || !strings.HasPrefix(v.What.String(), x.what) || !slices.Equal(proof, x.proof) {
				t.Errorf("%s %s, %s: %q", v.Outcome, v.Kind, v.What, proof)
			}
			failed := (backend.Observation{Verdicts: backend.MergeVerdicts(done.Observed)}).Failed()
			if want := map[backend.Outcome]int{backend.OutcomeFailed: 1}[x.outcome]; len(failed) != want {
				t.Errorf("%d planes failed, not %d: %+v", len(failed), want, failed)
			}
			if in := on(done, backend.PlaneControl).Inside; in == nil || in.Read(backend.PartProcesses) != (name == "commands alone" || name == "all from there") {
				t.Errorf("%+v", in)
			}
		})
	}
}
