package refs

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestErrorsOfTheSDKInAState: by class or by code, with what they say in members, in their context or in their first argument. A chain counts
// once, a manifest has none, and no text that may hold a secret is kept.
func TestErrorsOfTheSDKInAState(t *testing.T) {
	for body, want := range map[string]string{
		`"last_error":{"type":"ExecTimeoutError","message":"curl -H token=hunter2","context":{"timeout_s":300,"command":["curl"]}}`: "ExecTimeoutError | timeout 300 | the agent's SDK gave up waiting for a command: only its own wait ended | /last_error",
		`"events":[1,{"e":{"error_code":"exec_transport_error","http_status":503}}]`:                                                "ExecTransportError | HTTP 503 | the agent's SDK got no answer to a command | /events/1/e",
		`"err":{"class":"WorkspaceArchiveReadError","args":[{"reason":"tar_failed","output":"tar: x"},{"reason":"other"}]}`:         "WorkspaceArchiveReadError | reason tar_failed | the content of its workspace could not be saved | /err",
		`"err":{"name":"WorkspaceArchiveWriteError","reason":"tar_extract_failed","cause":{"type":"ExecTransportError"}}`:           "WorkspaceArchiveWriteError | reason tar_extract_failed | the saved content of its workspace could not be brought back | /err",
		`"err":{"error_type":"WorkspaceWriteTypeError","context":{"path":"/tmp/\u001b[31mx","actual_type":"str"}}`:                  "WorkspaceWriteTypeError | path /tmp/␛[31mx, type str | the agent gave its SDK something to write that is no bytes | /err",
		`"err":{"type":"ExecTimeoutErrors"},"note":"ExecTimeoutError","manifest":{"entries":{"a":{"type":"ExecTimeoutError"}}}`:     "",
		`"deep":` + strings.Repeat(`{"a":`, 20) + `{"type":"ExecTimeoutError"}` + strings.Repeat(`}`, 20):                           "",
		`"many":[` + strings.Repeat(`0,`, 6000) + `{"type":"ExecTimeoutError"}]`:                                                    "",
	} {
		f := agentSource(t)
		f.put(t, "x.json", "{"+agentSession+`,"type":"blaxel","sandbox_name":"b1",`+body+"}")
		r := f.poll(t)
		if len(r.Refs) != 1 || len(r.Problems) > 0 {
			t.Fatalf("%.60s: %d refs, %s", body, len(r.Refs), problems(r))
		}
		var got []string
		for _, e := range r.Refs[0].Agent.Errors {
			got = append(got, strings.Join([]string{e.Class.String(), e.Details.String(), e.Means.String(), e.Where.String()}, " | "))
		}
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("%.60s:\n%s\nwant\n%s", body, text, want)
		}
	}
	f := agentSource(t)
	f.put(t, "x.json", "{"+agentSession+`,"type":"blaxel","sandbox_name":"b1","all":[`+strings.Repeat(`{"type":"ExecTimeoutError"},`, 50)+`0]}`)
	if got := len(f.poll(t).Refs[0].Agent.Errors); got != maxStateErrors {
		t.Errorf("%d errors are kept", got)
	}
	if len(backend.SDKErrorKinds()) != 6 {
		t.Error("a kind of error without a case here")
	}
}
