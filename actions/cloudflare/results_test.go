package cloudflare

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	demo "sandglass/demo/cloudflare"
)

// TestAFaultIsCalledOne: what a probe proves beside a plane that fails is the fault.
func TestAFaultIsCalledOne(t *testing.T) {
	w := newWorld(t, demo.BridgeOptions{})
	w.change(func(b *demo.Box) { b.Root = demo.Missing })
	if done, _, err := w.do(actions.Probe); err != nil || !strings.HasPrefix(done.Text.String(), "a fault was found: /workspace is missing") {
		t.Errorf("%q %v", done.Text, err)
	}
	w.change(func(b *demo.Box) { b.Root = demo.Directory })
	if done, _, err := w.do(actions.Probe); err != nil || strings.Contains(done.Text.String(), "fault") {
		t.Errorf("%q %v", done.Text, err)
	}
}

// TestNoReadingIsWaitedForThatCannotCome: without operator routes the end of a sandbox shows in the list of the account only.
func TestNoReadingIsWaitedForThatCannotCome(t *testing.T) {
	issued := time.Now()
	for container, want := range map[string]actions.Result{"": actions.ResultUnverified, "c1": actions.ResultAccepted} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: key(), ReadAt: issued.Add(time.Second)}, Provider: backend.Text("cloudflare"), IsSandbox: true, Class: backend.SandboxUnknown}
		if container != "" {
			b.Container, b.Class = backend.MustID(container), backend.SandboxRunning
		}
		r := backend.Reading{Source: "cf", At: issued, Sandboxes: []*backend.Sandbox{b}}
		st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "cf", Config: &backend.SourceConfig{Kind: "cloudflare", Interval: time.Minute}},
			{Source: "cf", Reading: &r, Ended: backend.Instant{Wall: issued}}}, backend.Instant{Wall: issued})
		if v := (ended{}).Verify(actions.Target{Key: key()}, issued, st); v.Result != want {
			t.Errorf("container %q: %s, %s", container, v.Result, v.Why)
		}
	}
}

// TestARepairThatDidNotHelpIsMarked: what fails after it is known to have been repaired in vain, also where the bridge refused to write.
func TestARepairThatDidNotHelpIsMarked(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{200: `{"ok":true}`, 400: `{"error":"no","code":"invalid_path"}`, 502: `{"error":"exec_error","code":"exec_error"}`} {
		w := newWorld(t, demo.BridgeOptions{})
		w.change(func(b *demo.Box) { b.Root = demo.Missing })
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				out.WriteHeader(status)
				_, _ = io.WriteString(out, body)
			}
			return r.Method == http.MethodPut
		}
		done, _, err := w.do(actions.Repair, factFailure, string(backend.FailWorkDirMissing), factLink, missingText)
		v := on(done, backend.PlaneExec)
		if marked := !v.Unrepaired.IsZero(); err == nil || v.Outcome != backend.OutcomeFailed || marked == (status == 502) { // of an error of the bridge nobody knows what came of it
			t.Errorf("%d: %v, marked %v: %+v", status, err, marked, v)
		}
	}
}
