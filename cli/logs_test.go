package cli

import (
	"context"
	"strings"
	"testing"

	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/logstream"
	"sandglass/views/logview"
)

// Lines are printed with their time, and their log where there are several; masked, harmless, filtered as they are drawn. A log that
// breaks decides the exit code.
func TestLogPrinter(t *testing.T) {
	var out, complaints strings.Builder
	p := &Program{App: &app.App{Cleaner: backend.NewCleaner()}, Stdout: &out, Stderr: &complaints}
	f, err := logview.NewFilter("!noise")
	if err != nil {
		t.Fatal(err)
	}
	_, stop := context.WithCancel(t.Context())
	defer stop()
	o := &logPrinter{p: p, filter: f, stop: stop, set: backend.LogSet{Logs: []backend.Log{{Name: backend.Text("container web")}, {Name: backend.Text("b.log")}}}}
	o.Line(0, backend.LogLine{Text: []byte("a\x1b]0;x\a API_KEY=sk-abcdefghijklmnop")})
	o.Line(1, backend.LogLine{Text: []byte("noise")})
	o.State(0, logstream.State{Live: true})
	if o.failed {
		t.Error("a log that is read failed")
	}
	o.State(1, logstream.State{Err: backend.Errorf(backend.ErrGone, "b.log", "no file")})
	if got := out.String(); got != "[container web] a␛]0;x␇ API_KEY=‹masked›\n" || !o.failed || !strings.Contains(complaints.String(), "b.log: gone") {
		t.Errorf("%q, %q, failed %t", got, complaints.String(), o.failed)
	}
}
