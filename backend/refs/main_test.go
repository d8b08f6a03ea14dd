package refs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

const secret = "hunter2-hunter2"

// fixture is a source over a directory of its own, and its clock.
type fixture struct {
	dir string
	now time.Time
	src *source
}

func make1(t testing.TB, set func(dir string, o *Options)) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir(), now: time.Now().Add(time.Hour)}
	src, err := Kind().New(backendtest.Options[Options](func(o *Options) {
		o.Files = []string{filepath.Join(f.dir, "*.json")}
		set(f.dir, o)
	}), backend.Deps{ID: "saved", Interval: time.Minute, Deadline: 10 * time.Second, Now: func() time.Time { return f.now },
		Cleaner: backend.NewCleaner(secret), Spawn: backend.NewSpawner(nil),
		Command: backendtest.Command})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := src.(*source)
	if !ok {
		t.Fatalf("%T is not the source", src)
	}
	f.src = s
	return f
}

func plainSource(t testing.TB) *fixture { return make1(t, func(string, *Options) {}) }

func (f *fixture) put(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) poll(t testing.TB) backend.Reading {
	t.Helper()
	r, err := f.src.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show prints the refs of a reading, one a line: "s1/notes local-bash v3".
func show(r backend.Reading) string {
	var b strings.Builder
	for _, x := range r.Refs {
		fmt.Fprintf(&b, "%s", x.Key.Path().Raw())
		if !x.Provider.IsEmpty() {
			fmt.Fprintf(&b, " %s", x.Provider)
		}
		if v, ok := x.SchemaVersion.Get(); ok {
			fmt.Fprintf(&b, " v%d", v)
		}
		if !x.Sandbox.IsZero() {
			fmt.Fprintf(&b, " in %s", x.Sandbox.Raw())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func problems(r backend.Reading) string {
	var out []string
	for _, p := range r.Problems {
		out = append(out, fmt.Sprintf("%s | %s | %s", p.Kind, p.Where, p.What))
	}
	return strings.Join(out, "\n")
}

func complete(t testing.TB, r backend.Reading) bool {
	t.Helper()
	if len(r.Scopes) != 1 || r.Scopes[0].Kind != backend.KindRef {
		t.Fatalf("scopes %v", r.Scopes)
	}
	return r.Scopes[0].Complete
}

func delivers(r backend.Reading) bool { return len(r.Inputs) == 1 && r.Inputs[0] == backend.InputRefs }
