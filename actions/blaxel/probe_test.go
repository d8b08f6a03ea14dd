package blaxel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
)

// TestAKilledProcessIsReadAgain: the list has no end of it yet; where the second reading has none either, that is not called running.
func TestAKilledProcessIsReadAgain(t *testing.T) {
	const row = `{"pid":"40","name":"proc-40","command":"sleep 9","status":"killed","startedAt":"Sat, 21 Nov 2026 12:00:00 GMT","completedAt":%s}`
	for end, want := range map[string]backend.WorkClass{`"Sat, 21 Nov 2026 12:01:00 GMT"`: backend.WorkCancelled, `""`: backend.WorkUnknown} {
		w := newWorld(t)
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			switch at := r.URL.EscapedPath(); {
			case r.Method == http.MethodGet && strings.HasSuffix(at, "/process"):
				_, _ = fmt.Fprintf(out, "["+row+"]", `""`)
			case r.Method == http.MethodGet && strings.HasSuffix(at, "/process/40"):
				_, _ = fmt.Fprintf(out, row, end)
			default:
				return false
			}
			return true
		}
		_, _ = w.do(actions.Probe, actions.Params{})
		in, _ := w.sandbox.Inside()
		if in == nil || len(in.Processes) != 1 || in.Processes[0].Class != want || in.Processes[0].EndedAt.IsZero() != (want == backend.WorkUnknown) || w.asks("/process/40") != 1 {
			t.Errorf("end %s: %+v, asked %v", end, in, w.asked)
		}
	}
}

// TestAPartThatIsNotReadHasItsReason: what a probe could not read inside is named, each with what came instead.
func TestAPartThatIsNotReadHasItsReason(t *testing.T) {
	w := newWorld(t)
	w.answer = func(out http.ResponseWriter, r *http.Request) bool {
		switch at := r.URL.EscapedPath(); {
		case r.Method == http.MethodGet && strings.HasSuffix(at, "/process"):
			_, _ = out.Write([]byte(`{"pid":"4`))
		case strings.HasSuffix(at, "%2Ftmp"):
			_, _ = out.Write([]byte(`{"path":7,"files":"none"}`))
		case strings.HasSuffix(at, "/drives/mount"):
			out.WriteHeader(500)
			_, _ = out.Write([]byte(`{"error":"no table"}`))
		default:
			return false
		}
		return true
	}
	if done, _ := w.do(actions.Probe, actions.Params{}); on(done, backend.PlaneExec).Outcome != backend.OutcomeOK {
		t.Errorf("%+v", done)
	}
	in, _ := w.sandbox.Inside()
	if in == nil || text(in.Unread) != "processes; mounts; archives" || len(in.UnreadWhy) != 3 {
		t.Fatalf("%+v", in)
	}
	for i, want := range []string{"the answer cannot be read: ", "answered 500 Internal Server Error: no table", "the answer holds no list"} {
		if !strings.Contains(in.UnreadWhy[i].String(), want) {
			t.Errorf("%s: %s", in.Unread[i], in.UnreadWhy[i])
		}
	}
}

// TestADeniedPermissionIsExplainedByTheOwners of what is in the root; another failure is not.
func TestADeniedPermissionIsExplainedByTheOwners(t *testing.T) {
	for said, explained := range map[string]bool{"sh: Permission denied": true, "sh: cannot fork": false} {
		w := newWorld(t)
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			switch at := r.URL.EscapedPath(); {
			case r.Method == http.MethodPost && strings.HasSuffix(at, "/process"):
				_, _ = fmt.Fprintf(out, `{"pid":"9","status":"failed","exitCode":126,"completedAt":"Sat, 21 Nov 2026 12:01:00 GMT","stderr":%q}`, said)
			case strings.HasSuffix(at, "%2Fworkspace"):
				_, _ = out.Write([]byte(`{"path":"/workspace","files":[{"path":"/workspace/a","name":"a","owner":"root","size":5000000},{"path":"/workspace/b","name":"b","owner":"node","size":5000000}],"subdirectories":[]}`))
			default:
				return false
			}
			return true
		}
		done, _ := w.do(actions.Probe, actions.Params{})
		v := on(done, backend.PlaneExec)
		if v.Outcome != backend.OutcomeFailed || strings.Contains(v.What.String(), "what is in /workspace belongs to node and root") != explained {
			t.Errorf("%s: %+v", said, v)
		}
	}
}

// TestTheServersOwnFaultIsTheSandboxs: an answer of the server inside says that it is awake and what fails in it, and is not asked for again.
func TestTheServersOwnFaultIsTheSandboxs(t *testing.T) {
	w, asked := newWorld(t), 0
	w.answer = func(out http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.EscapedPath(), "/filesystem/%2F") {
			return false
		}
		asked++
		out.WriteHeader(http.StatusInternalServerError)
		_, _ = out.Write([]byte(`{"error":"stat /: input/output error"}`))
		return true
	}
	done, err := w.do(actions.Probe, actions.Params{})
	v := on(done, backend.PlaneList)
	if v.Outcome != backend.OutcomeFailed || !strings.Contains(v.What.String(), "/ cannot be listed: answered 500 Internal Server Error: stat /: input/output error; that is its own server's answer") {
		t.Errorf("%+v %v", v, err)
	}
	in, _ := w.sandbox.Inside()
	if in == nil || !in.Answered || in.AgentSees.Or(true) || asked != 1 {
		t.Errorf("asked %d times: %+v", asked, in)
	}
}

// TestNobodyKnowsWhetherAnUnknownStatusAnswers: a status that is not known here is not said to be one in which no server answers.
func TestNobodyKnowsWhetherAnUnknownStatusAnswers(t *testing.T) {
	for status, want := range map[backend.Literal]string{"SOMETHINGNEW": "it is reported SOMETHINGNEW, which is not known here", "ARCHIVED": "its server does not answer then"} {
		w := newWorld(t)
		w.sandbox.Reported, w.sandbox.Power, w.sandbox.Class = backend.Text(status), backend.Safe{}, backend.SandboxUnknown
		if status == "ARCHIVED" {
			w.sandbox.Class = backend.SandboxPaused
		}
		if c := w.look(actions.Probe, actions.Params{}); !strings.Contains(c.Why.String(), want) {
			t.Errorf("%s: %s", status, c.Why)
		}
	}
}

// TestAFullDiskIsAFailure: of a 422 that says so, whatever was asked, and of what a df printed a while ago; of nothing else.
func TestAFullDiskIsAFailure(t *testing.T) {
	const table = "Filesystem Size Used Avail Use% Mounted on\n/dev/vda 10G 10G 0 100% /\n"
	for name, c := range map[string]struct {
		route, said string
		status      int
		df          time.Duration // ago
		plane       backend.Plane
		full        bool
	}{
		"a list":       {"%2Fworkspace", `{"error":"mkdir: no space left on device"}`, 422, 0, backend.PlaneList, true},
		"a command":    {"/process", `{"error":"failed to start process: no space left on device"}`, 422, 0, backend.PlaneExec, true},
		"another code": {"%2Fworkspace", `{"error":"no space left on device"}`, 400, 0, backend.PlaneList, false},
		"df":           {"", "", 0, time.Minute, backend.PlaneList, true},
		"an old df":    {"", "", 0, time.Hour, backend.PlaneList, false},
	} {
		w := newWorld(t)
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			at := r.URL.EscapedPath()
			switch {
			case c.df > 0 && r.Method == http.MethodGet && strings.HasSuffix(at, "/process"):
				ended := time.Now().Add(-c.df).UTC()
				body, err := json.Marshal([]map[string]any{{"pid": "21", "name": "proc-21", "command": "df -h", "status": "completed", "startedAt": ended.Format(time.RFC1123), "completedAt": ended.Format(time.RFC1123), "exitCode": 0, "stdout": table}})
				if err != nil {
					t.Error(err)
				}
				_, _ = out.Write(body)
			case c.status > 0 && strings.HasSuffix(at, c.route) && (r.Method == http.MethodPost) == (c.plane == backend.PlaneExec):
				out.WriteHeader(c.status)
				_, _ = out.Write([]byte(c.said))
			default:
				return false
			}
			return true
		}
		done, _ := w.do(actions.Probe, actions.Params{})
		if v := on(done, c.plane); (v.Outcome == backend.OutcomeFailed && v.Kind == backend.FailNoSpace) != c.full {
			t.Errorf("%s: %s %s, %s", name, v.Outcome, v.Kind, v.What)
		}
	}
}

// TestASaveAroundTheDrivesIsSeen: they are read after the processes and before /tmp, so that a save that begins or ends meanwhile is told
// by one of the two.
func TestASaveAroundTheDrivesIsSeen(t *testing.T) {
	w := newWorld(t)
	_, _ = w.do(actions.Probe, actions.Params{})
	last := map[string]int{}
	for i, r := range w.asked {
		for _, of := range []string{"/process", "/drives/mount", "%2Ftmp"} {
			if strings.HasPrefix(r, "GET ") && strings.HasSuffix(r, of) {
				last[of] = i + 1
			}
		}
	}
	if last["/process"] == 0 || last["/process"] > last["/drives/mount"] || last["/drives/mount"] > last["%2Ftmp"] {
		t.Errorf("%v", w.asked)
	}
}

// TestAProbeKeepsWhatASaveLeavesOut, and of a long command both ends: what kind of process it is is told by its last words.
func TestAProbeKeepsWhatASaveLeavesOut(t *testing.T) {
	w := newWorld(t)
	var many strings.Builder
	for i := range 3000 {
		_, _ = fmt.Fprintf(&many, "--exclude=d%04d --exclude=./d%04d ", i, i)
	}
	const archive = "/tmp/bl-persist-0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d.tar"
	w.box.Server.Start("", "tar "+many.String()+"-C /workspace -cf "+archive+" .", "/", time.Now().Add(-time.Minute))
	_, _ = w.do(actions.Probe, actions.Params{})
	in, _ := w.sandbox.Inside()
	if in == nil || len(in.Skips) != backend.MaxSkipsKept || in.SkipsMore != 3000-backend.MaxSkipsKept || in.Skips[1].String() != "d0001" {
		t.Fatalf("%+v", in)
	}
	command := ""
	for _, p := range in.Processes {
		if p.Class == backend.WorkRunning {
			command = p.Command.String()
		}
	}
	if n := len([]rune(command)); n > maxCommand || !strings.HasPrefix(command, "tar --exclude=d0000") || !strings.HasSuffix(command, "-cf "+archive+" .") {
		t.Errorf("%d: %s", n, command)
	}
	w.refs = []*backend.Ref{{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "s", ID: backend.MustID("r")}}, Session: backend.MustID("s1"), Sandbox: backend.MustID(boxName), Provider: backend.Text("blaxel"),
		Agent: &backend.AgentState{Root: backend.Text("/workspace"), Snapshot: backend.Text("local"), LeftOut: backend.LeftOut{Skips: []backend.Safe{backend.Text("build")}}}}}
	const want = "the snapshots of its session leave out build, d0000, d0001 and 2998 more: none of them brings that back"
	for _, v := range []actions.Verb{actions.Destroy, actions.Rescue, actions.Probe} {
		if got := text(w.look(v, actions.Params{}).Notes); strings.Contains(got, want) != (v != actions.Probe) {
			t.Errorf("%s: %s", v, got)
		}
	}
	w.refs[0].Agent.Snapshot = backend.Text("noop")
	if got := text(w.look(actions.Destroy, actions.Params{}).Notes); strings.Contains(got, "leave out") {
		t.Errorf("nothing is saved: %s", got)
	}
}
