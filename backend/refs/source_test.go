package refs

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

func saved1(session, workspace string) string {
	return `{"sessionId":"` + session + `","workspaceRefs":{"` + workspace + `":` + one + `}}`
}

func staleKeys(r backend.Reading) string {
	var out []string
	for _, m := range r.Stale {
		out = append(out, m.Key.Path().Raw()+": "+m.Why.String())
	}
	return strings.Join(out, "; ")
}

func TestAnUnchangedFileIsNotReadAgain(t *testing.T) {
	f := plainSource(t)
	f.put(t, "a.json", saved1("s1", "x"))
	first := f.poll(t)
	second := f.poll(t)
	if second.Load.Requests != 0 || len(second.Refs) != 1 || second.Refs[0] != first.Refs[0] || !complete(t, second) {
		t.Errorf("load %+v, refs %q", second.Load, show(second))
	}
	f.put(t, "a.json", saved1("s1", "longer name"))
	if third := f.poll(t); third.Load.Requests != 1 || show(third) != "s1/longer name local-bash v3\n" {
		t.Errorf("load %+v, refs %q", third.Load, show(third))
	}
	f.now = time.Now() // a time that is this young proves nothing
	if again := f.poll(t); again.Load.Requests != 1 {
		t.Errorf("a file of this moment is trusted: %+v", again.Load)
	}
}

func TestWhatCannotBeReadIsStaleNotGone(t *testing.T) {
	f := plainSource(t)
	f.put(t, "a.json", saved1("s1", "x"))
	f.put(t, "b.json", saved1("s2", "y"))
	f.poll(t)
	f.put(t, "b.json", `{"sessionId":"s2","workspaceRefs`) // a writer at work
	for range 2 {
		r := f.poll(t)
		if show(r) != "s1/x local-bash v3\n" || !strings.HasPrefix(staleKeys(r), "s2/y: what was saved cannot be read in full: ") || !delivers(r) ||
			r.Degraded.String() != "1 of 2 files cannot be read; 1 ref of an earlier reading is kept" {
			t.Fatalf("refs %q, stale %q, degraded %q", show(r), staleKeys(r), r.Degraded)
		}
	}
	f.put(t, "b.json", `{"sessionId":"s2","workspaceRefs":{}}`)
	if r := f.poll(t); staleKeys(r) != "" || !complete(t, r) || !r.Degraded.IsEmpty() {
		t.Errorf("stale %q, degraded %q", staleKeys(r), r.Degraded)
	}
	f.remove(t, "a.json")
	if r := f.poll(t); show(r) != "" || staleKeys(r) != "" || !complete(t, r) || len(r.Problems) > 0 {
		t.Errorf("a removed file: refs %q, stale %q, problems %s", show(r), staleKeys(r), problems(r))
	}
}

func TestAMissingPlaceIsAProblem(t *testing.T) {
	f := make1(t, func(dir string, o *Options) {
		o.Files = []string{filepath.Join(dir, "store", "*", "s.json"), filepath.Join(dir, "one.json")}
	})
	r := f.poll(t)
	if complete(t, r) || delivers(r) || len(r.Missing) != 1 || len(r.Problems) != 2 || r.Problems[0].Kind != backend.ErrAbsent {
		t.Fatalf("%+v", r)
	}
	f.put(t, "store/a/s.json", saved1("s1", "x"))
	f.put(t, "one.json", saved1("s2", "y"))
	if r = f.poll(t); !complete(t, r) || len(r.Refs) != 2 {
		t.Fatalf("refs %q, problems %s", show(r), problems(r))
	}
	f.remove(t, "store/a/s.json") // as when the store is unmounted: nothing matches any more
	for range 3 {
		r = f.poll(t)
		if complete(t, r) || !strings.HasPrefix(staleKeys(r), "s1/x: ") || show(r) != "s2/y local-bash v3\n" {
			t.Fatalf("refs %q, stale %q", show(r), staleKeys(r))
		}
	}
}

func TestADirectoryThatIsClosedIsNotEmpty(t *testing.T) {
	g := globber{fail: func(string, error) { t.Error("nothing is closed") }}
	dir := t.TempDir()
	g.expand(filepath.Join(dir, "*", "s.json"))
	if len(g.found) != 0 {
		t.Errorf("found %v", g.found)
	}
	// A name of more than 255 bytes is an error other than "does not exist", for root as well.
	var failed []string
	g.fail = func(path string, _ error) { failed = append(failed, filepath.Base(path)[:3]) }
	g.expand(filepath.Join(dir, strings.Repeat("n", 300), "*.json"))
	if fmt.Sprint(failed) != "[nnn]" {
		t.Errorf("failed %v", failed)
	}
}

func TestRelativeGlobs(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.json", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g := globber{fail: func(p string, err error) { t.Errorf("%s: %v", p, err) }}
	g.expand("./*.json")
	g.expand("a.json")
	if fmt.Sprint(g.found) != "[a.json a.json]" {
		t.Errorf("found %v", g.found)
	}
}

func TestTheNewerOfTwoFilesCounts(t *testing.T) {
	f := plainSource(t)
	f.put(t, "new.json", `{"sessionId":"s1","workspaceRefs":{"x":{"providerId":"new"}}}`)
	f.put(t, "old.json", `{"sessionId":"s1","workspaceRefs":{"x":{"providerId":"old"}}}`)
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(f.dir, "old.json"), then, then); err != nil {
		t.Fatal(err)
	}
	r := f.poll(t)
	if show(r) != "s1/x new\n" || !strings.Contains(problems(r), "s1/x is saved in "+f.dir+"/new.json too; the newer one counts") {
		t.Errorf("refs %q, problems %s", show(r), problems(r))
	}
}

func TestBounds(t *testing.T) {
	f := make1(t, func(_ string, o *Options) { o.MaxFiles, o.MaxRefs, o.MaxBody = 3, 3, 1000 })
	f.put(t, "big.json", strings.Repeat(" ", 1001)+saved1("s9", "x"))
	f.put(t, "many.json", `{"sessionId":"s1","workspaceRefs":{"a":{},"b":{},"c":{},"d":{}}}`)
	r := f.poll(t)
	if len(r.Refs) != 3 || complete(t, r) || !strings.Contains(problems(r), "larger than max_body (1kB)") || !strings.Contains(problems(r), "more than max_refs (3)") {
		t.Errorf("%d refs, problems %s", len(r.Refs), problems(r))
	}
	f = make1(t, func(_ string, o *Options) { o.MaxFiles = 3 })
	for i := range 5 {
		name := fmt.Sprintf("%d.json", i)
		f.put(t, name, saved1(fmt.Sprintf("s%d", i), "x"))
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		if err := os.Chtimes(filepath.Join(f.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if r = f.poll(t); len(r.Refs) != 3 || complete(t, r) || !strings.Contains(problems(r), "5 files match; only the 3 newest") || strings.Contains(show(r), "s1/") {
		t.Errorf("refs %q, problems %s", show(r), problems(r))
	}
	f = plainSource(t)
	for i := range 30 {
		f.put(t, fmt.Sprintf("%d.json", i), "[7,7,7]")
	}
	if r = f.poll(t); len(r.Problems) != maxProblems || !strings.Contains(fmt.Sprint(r.Notes), "70 more problems") {
		t.Errorf("%d problems, notes %v", len(r.Problems), r.Notes)
	}
}

func TestAnEndedPollSaysWhatItDidNotRead(t *testing.T) {
	f := plainSource(t)
	f.put(t, "a.json", saved1("s1", "x"))
	f.poll(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := f.src.Poll(ctx)
	if err != nil || complete(t, r) || show(r) != "s1/x local-bash v3\n" || r.Problems[0].Kind != backend.ErrTimeout {
		t.Errorf("refs %q, problems %s, %v", show(r), problems(r), err)
	}
}

func commandSource(t *testing.T, argv ...string) *fixture {
	t.Helper()
	return make1(t, func(_ string, o *Options) { o.Files, o.Command = nil, argv })
}

func TestCommand(t *testing.T) {
	f := commandSource(t, "cat", "state")
	f.src.opts.Command[1] = filepath.Join(f.dir, "state")
	f.put(t, "state", saved1("s1", "x")+"\n"+saved1("s2", "y"))
	r := f.poll(t)
	if show(r) != "s1/x local-bash v3\ns2/y local-bash v3\n" || !complete(t, r) || !delivers(r) || r.Refs[1].SavedAt.IsKnown() ||
		r.Refs[1].Origin.String() != "command cat, line 2" {
		t.Errorf("refs %q, problems %s, %+v", show(r), problems(r), r.Refs[1])
	}
	f.put(t, "state", saved1("s1", "x")+"\n"+saved1("s2", "y")[1:])
	f.now = f.now.Add(30 * time.Second)
	f.src.deps.Interval = 5 * time.Second
	if r = f.poll(t); len(r.Scopes) != 0 || len(r.Refs) != 0 || !delivers(r) || r.Load.Requests != 0 || !r.AnsweredAt.Equal(f.now.Add(-30*time.Second)) || r.Every != time.Minute {
		t.Errorf("the command is not due yet: %+v", r)
	}
	f.now = f.now.Add(31 * time.Second)
	if r = f.poll(t); show(r) != "s1/x local-bash v3\n" || !strings.HasPrefix(staleKeys(r), "s2/y: ") {
		t.Errorf("refs %q, stale %q", show(r), staleKeys(r))
	}
}

func TestFailedCommands(t *testing.T) {
	for _, c := range []struct {
		kind backend.ErrorKind
		want string
		argv []string
	}{
		{backend.ErrUnreachable, "exit status 3: no ‹masked› here", []string{"sh", "-c", "echo no " + secret + " here >&2; exit 3"}},
		{backend.ErrInvalid, "executable file not found", []string{"no-such-program-anywhere"}},
		{backend.ErrInvalid, "more than max_body", []string{"yes", "0123456789012345678901234567890123456789"}},
	} {
		f := commandSource(t, c.argv...)
		f.src.opts.MaxBody = 100_000
		_, err := f.src.Poll(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) || backend.KindOf(err) != c.kind {
			t.Errorf("%v: %v (%s)", c.argv, err, backend.KindOf(err))
		}
	}
	f := commandSource(t, "sleep", "60")
	f.src.deps.Deadline = 50 * time.Millisecond
	if _, err := f.src.Poll(t.Context()); backend.KindOf(err) != backend.ErrTimeout {
		t.Errorf("a command that hangs: %v", err)
	}
	f = commandSource(t, "true")
	if r := f.poll(t); delivers(r) || !strings.Contains(problems(r), "command true, whole body (byte 0) | the body is empty") {
		t.Errorf("a command that prints nothing: problems %s", problems(r))
	}
}

func TestRoutesReadOnly(t *testing.T) {
	for want, s := range map[string]*fixture{
		"[{run print ‹masked› saved session state, at most every 1m0s false}]": commandSource(t, "print", secret),
		"[{read /var/*.json saved session state false}]":                       make1(t, func(_ string, o *Options) { o.Files = []string{"/var/*.json"} }),
	} {
		if got := fmt.Sprint(s.src.Routes()); got != want || s.src.ID() != "saved" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"kind: a refs source needs":        func(o *Options) { o.Files = nil },
		"kind: files and command":          func(o *Options) { o.Command = []string{"x"} },
		"format: ":                         func(o *Options) { o.Format = "xml" },
		"layout: ":                         func(o *Options) { o.Layout = "redis" },
		"max_files: ":                      func(o *Options) { o.MaxFiles = 0 },
		"max_body: ":                       func(o *Options) { o.MaxBody = 1 },
		"max_refs: ":                       func(o *Options) { o.MaxRefs = -1 },
		"command_every: ":                  func(o *Options) { o.CommandEvery = 0 },
		"command: ":                        func(o *Options) { o.Files, o.Command = nil, []string{""} },
		"files: \"[a\"":                    func(o *Options) { o.Files = []string{"[a"} },
		"files: \"\"":                      func(o *Options) { o.Files = []string{""} },
		"name_pattern: error parsing":      func(o *Options) { o.NamePattern = "(" },
		"name_pattern: it has no group":    func(o *Options) { o.NamePattern = "(.*)" },
		"pointers.sessions: name at least": func(o *Options) { o.Pointers.Sessions = nil },
		"pointers.session: \"sessionId\" is not a JSON": func(o *Options) { o.Pointers.Session = []string{"sessionId"} },
		"pointers.provider: \"\" is not a JSON":         func(o *Options) { o.Pointers.Provider = []string{""} },
	} {
		_, err := Kind().New(backendtest.Options[Options](func(o *Options) {
			o.Files = []string{"/x"}
			change(o)
		}), backend.Deps{ID: "saved", Now: time.Now, Cleaner: backend.NewCleaner()})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, ok := Kind().Defaults().(*Options); !ok || Kind().Name != "refs" {
		t.Error("the kind's defaults are no options")
	}
}

func BenchmarkPollUnchanged(b *testing.B) {
	f := plainSource(b)
	for i := range 1000 {
		f.put(b, fmt.Sprintf("%d.json", i), saved1(fmt.Sprintf("s%d", i), "x"))
	}
	f.poll(b)
	b.ReportAllocs()
	for b.Loop() {
		f.poll(b)
	}
}

// TestAFirstReadingSpeaksOfNoEarlierOne: what a file holds that was never read is not known.
func TestAFirstReadingSpeaksOfNoEarlierOne(t *testing.T) {
	f := plainSource(t)
	f.put(t, "a.json", saved1("s1", "x"))
	f.put(t, "b.json", `{"sessionId":"s2","workspaceRefs`)
	for range 2 {
		if r := f.poll(t); r.Degraded.String() != "1 of 2 files cannot be read; what they hold is not known" {
			t.Error(r.Degraded)
		}
	}
}
