package cloudflare

import (
	"encoding/base64"
	"fmt"
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

// fullText is the answer to a write for which no space is left.
const fullText = `{"error":"NO_SPACE: no space left on device, write","code":"exec_error"}`

// TestADiskWithoutSpaceIsTold: by what a command was answered, in and without a session, and by df where a session can run it.
func TestADiskWithoutSpaceIsTold(t *testing.T) {
	t.Parallel()
	const head, inodes = "Filesystem 1024-blocks Used Available Capacity Mounted on\n", "Filesystem Inodes IUsed IFree IUse% Mounted on\n"
	const memory = "       total used free shared buff/cache available\nMem: 4000000 3900000 10 0 20 35000\nSwap: 0 0 0\n"
	event := func(e, data string) string { return "event: " + e + "\ndata: " + data + "\n\n" }
	fails := func(text string) string { return event("error", `{"error":"`+text+`","code":"exec_transport_error"}`) }
	says := func(text string) string {
		return event("stdout", base64.StdEncoding.EncodeToString([]byte(text))) + event("exit", `{"exit_code":0}`)
	}
	const full, plain = "exec failed: ENOSPC: no space left on device, posix_spawn", "exec failed: Command execution failed"
	for name, c := range map[string]struct {
		plain, pwd, room string
		kind             backend.FailureKind
		what, evidence   string
	}{
		"neither begins":          {fails(full), fails(full), "", backend.FailNoSpace, "commands begin neither without a session nor in a new one: exec failed: ENOSPC", "no session: did not begin"},
		"only a session":          {fails(full), says("/workspace"), "", backend.FailNoSpace, "no space was left for them", "a new session: runs, in /workspace"},
		"df tells":                {fails(plain), says("/workspace"), says(head + "overlay 8000000 8000000 0 100% /\n"), backend.FailNoSpace, "its disk is full (/ is 100% full, 0 B of 8.2 GB are free)", "df: / is 100% full"},
		"inodes":                  {fails(plain), says("/workspace"), says(head + "overlay 8000000 1000 7999000 1% /\n" + inodes + "overlay 5000 5000 0 100% /\n"), backend.FailNoSpace, "(/ has 0 of 5000 inodes left)", "df: / is 1% full, 8.2 GB"},
		"room, and little memory": {fails(plain), says("/workspace"), says(head + "overlay 8000000 1000 7999000 1% /\n" + memory), "", "its disk has room (df); look at memory", "free: 36 MB of 4.1 GB of memory are available"},
		"no df":                   {fails(plain), says("/workspace"), says("sh: df: not found\n"), "", "look at disk and memory (df, free)", "a new session: runs"},
		"another cause":           {fails(plain), fails(plain), "", "", "commands begin neither", "no session: did not begin"},
		"df of nothing":           {fails(plain), says("/workspace"), says(head + "none 0 0 0 - /dev\nproc - - - 100% /proc\n"), "", "look at disk and memory (df, free)", "a new session: runs"},
	} {
		w := newWorld(t, demo.BridgeOptions{})
		w.change(func(*demo.Box) {})
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/exec") {
				return false
			}
			body, _ := io.ReadAll(r.Body)
			answer := c.plain
			switch {
			case strings.Contains(string(body), "df -P"):
				answer = c.room
			case r.Header.Get("Session-Id") != "":
				answer = c.pwd
			}
			out.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(out, answer)
			return true
		}
		done, _, err := w.do(actions.Probe)
		v := on(done, backend.PlaneExec)
		if err != nil || v.Outcome != backend.OutcomeFailed || v.Kind != c.kind || !strings.Contains(v.What.String(), c.what) || !strings.Contains(fmt.Sprint(v.Evidence), c.evidence) {
			t.Errorf("%s: %v %s %q: %s\n%s", name, err, v.Outcome, v.Kind, v.What, v.Evidence)
		}
	}
}

// TestARepairThatDidNotHelpIsMarked: what fails after it is known to have been repaired in vain, also where the bridge refused to write.
func TestARepairThatDidNotHelpIsMarked(t *testing.T) {
	t.Parallel()
	for body, status := range map[string]int{`{"ok":true}`: 200, `{"error":"no","code":"invalid_path"}`: 400, `{"error":"exec_error","code":"exec_error"}`: 502, fullText: 502} {
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
		if marked := !v.Unrepaired.IsZero(); err == nil || v.Outcome != backend.OutcomeFailed || marked == (status == 502 && body != fullText) || (body == fullText) != strings.HasPrefix(fmt.Sprint(v.Evidence[0]), string(backend.RepairFull)) { // of an error of the bridge nobody knows what came of it
			t.Errorf("%d: %v, marked %v: %+v", status, err, marked, v)
		}
	}
}

// TestASessionThatCannotBeginIsCaseB: before SDK 0.6.4 no new session begins either where /workspace is missing; a command that is given
// another directory tells it. Where that does not begin either, nothing is called missing.
func TestASessionThatCannotBeginIsCaseB(t *testing.T) {
	t.Parallel()
	const fails = "event: error\ndata: {\"error\":\"exec failed: Failed to create session 'x': ENOENT: no such file or directory, posix_spawn 'bash'\",\"code\":\"exec_transport_error\"}\n\n"
	missing := "event: stdout\ndata: " + base64.StdEncoding.EncodeToString([]byte("missing\n")) + "\n\nevent: exit\ndata: {\"exit_code\":0}\n\n"
	for root, c := range map[string]struct {
		kind backend.FailureKind
		what string
	}{missing: {backend.FailWorkDirMissing, "/workspace is missing: no command begins without a session, and no new session does, as before SDK 0.6.4"}, fails: {"", "or the image has no bash"}} {
		w := newWorld(t, demo.BridgeOptions{})
		w.change(func(*demo.Box) {})
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/exec") {
				return false
			}
			answer := fails
			if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"cwd":"/"`) {
				answer = root
			}
			out.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(out, answer)
			return true
		}
		done, _, err := w.do(actions.Probe)
		if v := on(done, backend.PlaneExec); err != nil || v.Kind != c.kind || !strings.Contains(v.What.String(), c.what) {
			t.Errorf("%v %s %q: %s", err, v.Outcome, v.Kind, v.What)
		}
	}
}

// TestCaseBIsRepairedByACommandThatBeginsElsewhere: where the bridge can write no file, since no session begins; what comes of it is looked at.
func TestCaseBIsRepairedByACommandThatBeginsElsewhere(t *testing.T) {
	t.Parallel()
	fails := `{"error":"exec failed: Failed to create session 'x': ENOENT: no such file or directory, posix_spawn 'bash'","code":"exec_transport_error"}`
	for code, works := range map[int]bool{0: true, 1: false} {
		w := newWorld(t, demo.BridgeOptions{})
		w.change(func(*demo.Box) {})
		made := false
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				out.WriteHeader(http.StatusBadGateway)
				_, _ = io.WriteString(out, fails)
				return true
			}
			if made || !strings.HasSuffix(r.URL.Path, "/exec") {
				return false
			}
			answer := "event: error\ndata: " + fails + "\n\n"
			switch body, _ := io.ReadAll(r.Body); {
			case strings.Contains(string(body), "mkdir"):
				made = code == 0
				answer = fmt.Sprintf("event: exit\ndata: {\"exit_code\":%d}\n\n", code)
			case strings.Contains(string(body), `"cwd":"/"`):
				answer = "event: stdout\ndata: " + base64.StdEncoding.EncodeToString([]byte("missing\n")) + "\n\nevent: exit\ndata: {\"exit_code\":0}\n\n"
			}
			out.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(out, answer)
			return true
		}
		done, _, err := w.do(actions.Repair, factFailure, string(backend.FailWorkDirMissing), factLink, caseB)
		v := on(done, backend.PlaneExec)
		if (err == nil) != works || (v.Outcome == backend.OutcomeOK) != works || v.Unrepaired.IsZero() != works {
			t.Errorf("mkdir ended with %d: %v, %+v", code, err, v)
		}
	}
}
