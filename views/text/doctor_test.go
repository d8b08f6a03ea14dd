package text_test

import (
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/examine"
	"sandglass/views/text"
)

// The first line names what is not read or not understood, and a route that was not asked says so.
func TestDoctorNamesWhatIsNotUnderstood(t *testing.T) {
	named := func(names ...string) (out []backend.Safe) {
		for _, n := range names {
			out = append(out, backend.Clean(n, 40))
		}
		return out
	}
	r := &examine.Report{Source: backend.Text("pod"), Kind: backend.Text("docker"), Tries: 3, ExitCode: 1, Routes: []examine.Route{
		{Method: backend.Text("GET"), Target: backend.Text("/info"), Asked: 3, May: examine.MayRead, Unknown: named("Frobnicate", "Depth")},
		{Method: backend.Text("GET"), Target: backend.Text("/json"), Asked: 3, May: examine.MayRead, Unknown: named("Depth")},
		{Method: backend.Text("GET"), Target: backend.Text("/events"), Asked: 1, May: examine.MayNotRead, Problem: backend.Text("answers 403")},
		{Method: backend.Text("GET"), Target: backend.Text("/top")}}}
	if s := text.Doctor(r); !strings.HasPrefix(s, "WARNING: 1 route may not be read, 2 fields are not known: pod (docker)") || strings.Count(s, "not asked: nothing needed it") != 1 {
		t.Errorf("says\n%s", s)
	}
	r.ExitCode, r.Routes = 0, r.Routes[3:]
	if s := text.Doctor(r); !strings.HasPrefix(s, "OK: everything that was asked is read: pod") {
		t.Errorf("says\n%s", s)
	}
}
