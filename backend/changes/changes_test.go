package changes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// t0 is past the files' own times: tests write now, and what is read must look settled.
var t0 = time.Date(2099, 3, 1, 12, 0, 0, 0, time.UTC)

type rig struct {
	t   *testing.T
	now time.Time
	src backend.Source
}

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, now: t0}
	src, err := Kind().New(backendtest.Options[Options](change), backend.Deps{ID: "deploys", Deadline: time.Minute, Now: func() time.Time { return r.now },
		Cleaner: backend.NewCleaner(), Command: backendtest.Command})
	if err != nil {
		t.Fatal(err)
	}
	r.src = src
	return r
}

func (r *rig) poll() backend.Reading {
	r.t.Helper()
	got, err := r.src.Poll(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	r.now = r.now.Add(5 * time.Second)
	return got
}

func told(r backend.Reading) string {
	var out []string
	for _, e := range r.Events {
		out = append(out, fmt.Sprintf("%s %s", e.At.UTC().Format("15:04:05"), e.Text))
	}
	return strings.Join(out, " | ")
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func add(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "changes.log")
	backendtest.Write(t, path, "# what happened\n2099-03-01T11:50:00Z deploy of agents 6.4.1\n2099-02-01T00:00:00Z long ago\nwritten some day\n")
	r := newRig(t, func(o *Options) { o.File, o.Name = path, "deploy" })
	got := r.poll()
	same(t, "at the start, dated lines of the lookback", told(got), "11:50:00 deploy of agents 6.4.1")
	e := got.Events[0]
	if e.Kind != backend.EventChange || e.Name != "deploy" || e.Source != "deploys" || e.Subject.Kind != backend.KindSource || e.SourceAt.IsZero() {
		t.Errorf("event %+v", e)
	}
	if notes := fmt.Sprint(got.Notes); !strings.Contains(notes, "1 lines without a time were there at the start") || !strings.Contains(notes, "1 lines are older") {
		t.Errorf("notes %s", notes)
	}
	same(t, "nothing new", told(r.poll()), "")
	add(t, path, "flag x on\n[2099-03-01 11:59:58] - flag y off\nflag x on\n")
	same(t, "lines with and without a time, one of them twice", told(r.poll()), "11:59:58 flag y off | 12:00:10 flag x on | 12:00:10 flag x on")
	same(t, "once", told(r.poll()), "")
	add(t, path, "flag x on\n")
	same(t, "the same text again is another change", told(r.poll()), "12:00:20 flag x on")
}

func TestAFileThatIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deployments.json")
	r := newRig(t, func(o *Options) { o.File = path })
	if got := r.poll(); !got.Degraded.IsEmpty() || !strings.Contains(fmt.Sprint(got.Notes), "does not exist yet") || len(got.Events) > 0 {
		t.Errorf("a file that is not there yet: %+v", got)
	}
	backendtest.Write(t, path, `[{"id":"a","created_on":"2099-03-01T11:00:00Z","message":"first"},"by hand"]`)
	same(t, "it came", told(r.poll()), "11:00:00 first | 12:00:05 by hand")
	next := path + ".new"
	backendtest.Write(t, next, `[{"id":"a","created_on":"2099-03-01T11:00:00Z","message":"first"},`+"\n"+`{"id":"b","created_on":4076048405000,"title":"agents","message":"second"}]`)
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	same(t, "only what is new", told(r.poll()), time.UnixMilli(4076048405000).UTC().Format("15:04:05")+" second: agents")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := r.poll(); !strings.Contains(got.Degraded.String(), "is not there any more") {
			t.Errorf("a file that was there: %+v", got)
		}
	}
}

func TestJSONLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "changes.jsonl")
	backendtest.Write(t, path, "")
	r := newRig(t, func(o *Options) { o.File = path })
	r.poll()
	add(t, path, `{"time":"2099-03-01T11:59:00Z","text":"rollout of 2\u001b[2J","token":"x"}`+"\n"+`{"who":"ci","what":"no known name"}`+"\n"+`{"text":"cut`+"\n")
	same(t, "lines", told(r.poll()), `11:59:00 rollout of 2␛[2J | 12:00:05 {"who":"ci","what":"no known name"} | 12:00:05 {"text":"cut`)
	add(t, path, `{"time":"2099-03-02T12:00:00Z","text":"from a clock that is ahead"}`+"\n")
	got := r.poll()
	same(t, "a time ahead of ours", told(got), "12:00:10 from a clock that is ahead")
	if got.Events[0].SourceAt.Day() != 2 {
		t.Errorf("its own time is lost: %+v", got.Events[0])
	}
	add(t, path, "API_KEY=sk-abcdefghijklmnop rotated\n")
	if text := told(r.poll()); strings.Contains(text, "abcdefgh") || !strings.Contains(text, "rotated") {
		t.Errorf("a secret is shown: %s", text)
	}
}

func TestManyChangesAreSummedUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	backendtest.Write(t, path, "")
	r := newRig(t, func(o *Options) { o.File = path })
	r.poll()
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "2099-03-01T10:00:%02dZ change %d\n", i%60, i)
	}
	add(t, path, b.String())
	got := r.poll()
	if len(got.Events) != maxEvents+1 || !strings.Contains(got.Events[0].Text.String(), "30 more changes between 2099-03-01 10:00:00") {
		t.Errorf("%d events, first %+v", len(got.Events), got.Events[0])
	}
}

func TestALongFileIsReadFromItsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	backendtest.Write(t, path, strings.Repeat("2099-03-01T11:59:00Z filler\n", 100)+"2099-03-01T11:59:30Z last\n")
	r := newRig(t, func(o *Options) { o.File, o.MaxBody = path, 1000 })
	got := r.poll()
	if text := told(got); !strings.HasSuffix(text, "11:59:30 last") || strings.Count(text, "filler") > 36 {
		t.Errorf("got %s", text)
	}
	if !strings.Contains(fmt.Sprint(got.Notes), "only the last 1 kB") {
		t.Errorf("notes %v", got.Notes)
	}
}

func TestACommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	backendtest.Write(t, path, "2099-03-01T11:58:00Z a\nundated\n")
	r := newRig(t, func(o *Options) { o.Command = []string{"cat", path} })
	same(t, "first output", told(r.poll()), "11:58:00 a")
	backendtest.Write(t, path, "2099-03-01T11:59:00Z b\nundated\nnew\n")
	same(t, "new lines", told(r.poll()), "11:59:00 b | 12:00:05 new")
	if routes := r.src.(backend.Explainer).Routes(); len(routes) != 1 || routes[0].Verb != "run" || routes[0].Acts {
		t.Errorf("routes %+v", routes)
	}
}

func TestCommandsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		argv []string
		kind backend.ErrorKind
		says string
	}{
		"status":     {[]string{"sh", "-c", "echo no access >&2; exit 3"}, backend.ErrUnreachable, "no access"},
		"no program": {[]string{"/nonexistent/list"}, backend.ErrInvalid, "nonexistent"},
		"too much":   {[]string{"sh", "-c", "head -c 5000 /dev/zero"}, backend.ErrInvalid, "max_body"},
	} {
		r := newRig(t, func(o *Options) { o.Command, o.MaxBody = c.argv, 1000 })
		if _, err := r.src.Poll(t.Context()); backend.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%s)", name, err, backend.KindOf(err))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r := newRig(t, func(o *Options) { o.Command = []string{"sleep", "60"} })
	if _, err := r.src.Poll(ctx); backend.KindOf(err) != backend.ErrTimeout {
		t.Errorf("a command that hangs: %v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"needs a file or a command": func(*Options) {},
		"two places":                func(o *Options) { o.File, o.Command = "a", []string{"b"} },
		"name":                      func(o *Options) { o.File, o.Name = "a", "No Word" },
		"lookback":                  func(o *Options) { o.File, o.Lookback = "a", backend.Duration(8*24*time.Hour) },
		"max_body":                  func(o *Options) { o.File, o.MaxBody = "a", 1 },
		"program's name":            func(o *Options) { o.Command = []string{""} },
	} {
		if _, err := Kind().New(backendtest.Options[Options](change), backend.Deps{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	r := newRig(t, func(o *Options) { o.File = t.TempDir() })
	if _, err := r.src.Poll(t.Context()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("2099-03-01T11:50:00Z x\n{\"time\":1}\n[1]\n1767225600 y")
	f.Add(`[{"time":"x","text":""},null,3]`)
	f.Fuzz(func(t *testing.T, text string) {
		o := defaults()
		for _, c := range o.split([]byte(text)) {
			if c.raw == "" {
				t.Errorf("an empty change in %q", text)
			}
		}
	})
}
