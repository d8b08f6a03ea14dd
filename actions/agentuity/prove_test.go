package agentuity

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestProveDestroysWhatItMade: the platform may give no metadata back. The id of its answer and the plan's name tell what is ours.
func TestProveDestroysWhatItMade(t *testing.T) {
	made := actions.Made{Verb: actions.Prove, Source: "agentuity", Digest: "00112233445566ff", Name: "sandglass-prove-00112233445566ff", State: "aa112233445566ff"}
	list := `{"success":true,"data":{"sandboxes":[{"sandboxId":"sbx_9","name":"` + made.Name + `","status":"idle"},{"sandboxId":"sbx_1","name":"mine","status":"idle"}]}}`
	for name, c := range map[string]struct {
		metadata string
		orphan   bool // its process is gone
		deletes  int
	}{
		"no metadata":                            {"", false, 1},
		"own metadata":                           {`,"metadata":{"sandglass_plan":"00112233445566ff","sandglass_state":"aa112233445566ff"}`, false, 1},
		"no metadata, after a kill":              {"", true, 1},
		"another directory's, after a kill":      {`,"metadata":{"sandglass_plan":"00112233445566ff","sandglass_state":"other"}`, true, 0},
		"metadata that says nothing, and a kill": {`,"metadata":{"owner":"a"}`, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			gone := false
			w.set("POST /sandbox", 200, `{"success":true,"data":{"sandboxId":"sbx_9","status":"creating"}}`)
			w.setFunc("GET /sandbox", func(*http.Request) (int, string) { return 200, list })
			w.setFunc("GET /sandbox/sbx_9", func(*http.Request) (int, string) {
				if gone {
					return 404, `{"success":false,"message":"sandbox not found"}`
				}
				return 200, `{"success":true,"data":{"sandboxId":"sbx_9","status":"idle"` + c.metadata + `}}`
			})
			w.setFunc("DELETE /sandbox/sbx_9", func(*http.Request) (int, string) { gone = true; return 200, `{"success":true}` })
			w.set("GET /sandbox/status/sbx_9", 500, `{"success":false,"message":"broken"}`)
			part := w.parts(actions.Prove)[actions.Prove]
			if c.orphan {
				part = part.Left(made)
			}
			e, err := part.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if m, is := e.(actions.Maker); is {
				m.Makes(made)
			}
			done, err := e.Do(t.Context(), actions.Target{Identity: []actions.Fact{{Name: factRuntime, Value: "bun:1"}}}, actions.Params{})
			if (err == nil) != c.orphan || !done.Left.IsEmpty() {
				t.Errorf("%+v, %v", done, err)
			}
			if n := w.asks("DELETE /sandbox/sbx_9"); n != c.deletes {
				t.Errorf("%d times destroyed, want %d: %q", n, c.deletes, w.asked)
			}
			if w.asks("DELETE /sandbox/sbx_1") > 0 {
				t.Error("a sandbox of the user was destroyed")
			}
		})
	}
	if actions.IsMade("sandglass-prove-of-mine") || !actions.IsMade(made.Name) {
		t.Error("a name is not told apart")
	}
}

// TestAProofIsMadeLikeTheSuspect: of the sandbox that an alert calls broken, of the one that is named before that, and of one that
// works only where there is neither. The plan names organisation, runtime and the sandbox.
func TestAProofIsMadeLikeTheSuspect(t *testing.T) {
	box := func(source, id, runtime string) *backend.Sandbox {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: source, ID: backend.MustID(id)}}, IsSandbox: true, Class: backend.SandboxRunning,
			Name: backend.Clean(id, 60)}
		b.Org, b.Runtime = backend.Clean("org of "+id, 60), backend.Clean(runtime, 60)
		return b
	}
	fine, broken, other := box("ag", "a-fine", "bun:1"), box("ag", "broken", "python:3"), box("elsewhere", "other", "go:1")
	q := actions.Question{Keys: []backend.Key{{Kind: backend.KindSource, Source: "ag", ID: backend.MustID("ag")}}, State: &fleet.State{Sandboxes: fleet.NewTable(fine, broken, other)}}
	for want, ask := range map[string]func(*actions.Question){
		"a-fine": func(q *actions.Question) { q.Suspects = []backend.Key{other.Key} },
		"broken": func(q *actions.Question) { q.Suspects = []backend.Key{other.Key, broken.Key} },
		"named":  func(q *actions.Question) { q.Suspects, q.Params.Beside = []backend.Key{broken.Key}, "a-fine" },
	} {
		q := q
		ask(&q)
		like := fine
		if want == "broken" {
			like = broken
		}
		c := proveReader{}.Look(context.Background(), q)[0]
		if !c.Why.IsEmpty() || fact(c.Identity, factOrg) != like.Org.String() || fact(c.Identity, factRuntime) != like.Runtime.String() || fact(c.Identity, factSandbox) != like.Key.ID.Raw() {
			t.Errorf("%s: %+v", want, c)
			continue
		}
		if note := c.Notes[0].String(); !strings.Contains(note, like.Org.String()) || !strings.Contains(note, like.Runtime.String()) || !strings.Contains(note, "those of "+like.Name.String()) {
			t.Errorf("%s: %s", want, note)
		}
	}
}

// TestAProofGoesOnWithoutFiles: a fault of the file routes alone hides nothing of commands, pause and resume.
func TestAProofGoesOnWithoutFiles(t *testing.T) {
	w := newWorld(t)
	gone := false
	w.set("POST /sandbox", 200, `{"success":true,"data":{"sandboxId":"sbx_9","status":"idle"}}`)
	w.setFunc("GET /sandbox", func(*http.Request) (int, string) { return 200, `{"success":true,"data":{"sandboxes":[]}}` })
	w.setFunc("GET /sandbox/sbx_9", func(*http.Request) (int, string) {
		if gone {
			return 404, `{"success":false,"message":"sandbox not found"}`
		}
		return 200, `{"success":true,"data":{"sandboxId":"sbx_9","status":"idle"}}`
	})
	w.setFunc("DELETE /sandbox/sbx_9", func(*http.Request) (int, string) { gone = true; return 200, `{"success":true}` })
	w.set("GET /sandbox/status/sbx_9", 200, `{"success":true,"data":{"status":"idle"}}`)
	w.set("POST /fs/sbx_9", 500, `{"success":false,"message":"Internal Server Error"}`)
	w.set("GET /fs/list/sbx_9", 200, `{"success":true,"data":{"files":[]}}`)
	w.set("POST /sandbox/sbx_9/execute", 500, `{"success":false,"message":"no"}`)
	w.set("POST /sandbox/sbx_9/pause", 200, `{"success":true,"status":"suspended","checkpointId":"ckpt_1"}`)
	w.set("POST /sandbox/sbx_9/resume", 200, `{"success":true,"status":"idle"}`)
	e, err := w.parts(actions.Prove)[actions.Prove].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.(actions.Maker).Makes(actions.Made{Verb: actions.Prove, Source: "agentuity", Digest: "00112233445566ff", Name: "sandglass-prove-00112233445566ff", State: "aa"})
	done, err := e.Do(t.Context(), actions.Target{Identity: []actions.Fact{{Name: factRuntime, Value: "bun:1"}}}, actions.Params{})
	if err == nil || !strings.Contains(err.Error(), "the platform fails at write: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	got := map[string]actions.StepResult{}
	for _, s := range done.Steps {
		got[s.Name.String()] = s.Result
	}
	for name, want := range map[string]actions.StepResult{"write": actions.StepFailed, "read": actions.StepNotTried, "list": actions.StepOK, "exec": actions.StepFailed, "pause": actions.StepOK,
		"resume": actions.StepOK, "list after resume": actions.StepOK, "destroy": actions.StepOK} {
		if got[name] != want {
			t.Errorf("%s: %s, want %s (%v)", name, got[name], want, err)
		}
	}
}
