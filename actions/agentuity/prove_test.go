package agentuity

import (
	"net/http"
	"testing"

	"sandglass/actions"
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
