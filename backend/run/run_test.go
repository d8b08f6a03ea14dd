package run

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

func deps(deadline time.Duration) backend.Deps {
	return backend.Deps{Deadline: deadline, Cleaner: backend.NewCleaner(),
		Command: backendtest.Command}
}

func TestOutput(t *testing.T) {
	if out, err := Output(t.Context(), deps(time.Minute), []string{"printf", "a b"}, 3); err != nil || string(out) != "a b" {
		t.Errorf("got %q, %v", out, err)
	}
	out, err := Output(t.Context(), deps(time.Minute), []string{"sh", "-c", "echo no; echo API_KEY=sk-abcdefghijklmnop >&2; exit 3"}, 100)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out) != "no\n" || strings.Contains(err.Error(), "abcdefgh") {
		t.Errorf("another status: %q, %v", out, err)
	}
	long, err := Output(t.Context(), deps(time.Minute), []string{"sh", "-c", "head -c 5000 /dev/zero | tr '\\0' x >&2; exit 1"}, 100)
	if err == nil || len(long) > 0 || len(err.Error()) > 400 {
		t.Errorf("a long complaint: %v", err)
	}
}

func TestFailuresHaveAKind(t *testing.T) {
	for name, c := range map[string]struct {
		argv     []string
		deadline time.Duration
		want     backend.ErrorKind
	}{
		"no program":    {[]string{"/nonexistent/x"}, time.Minute, backend.ErrInvalid},
		"no right":      {[]string{t.TempDir()}, time.Minute, backend.ErrUnauthorised},
		"too much":      {[]string{"sh", "-c", "head -c 5000 /dev/zero"}, time.Minute, backend.ErrInvalid},
		"another end":   {[]string{"false"}, time.Minute, backend.ErrUnreachable},
		"its own child": {[]string{"sh", "-c", "sleep 60 & wait"}, 30 * time.Millisecond, backend.ErrTimeout},
	} {
		if _, err := Output(t.Context(), deps(c.deadline), c.argv, 1000); err == nil || Kind(err) != c.want {
			t.Errorf("%s: %v is %q", name, err, Kind(err))
		}
	}
	if _, err := Output(t.Context(), backend.Deps{}, []string{"true"}, 1); err == nil {
		t.Error("a process without commands ran one")
	}
}
