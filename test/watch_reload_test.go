package test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/demo"
)

// saidMeanwhile keeps what a command writes while it runs.
type saidMeanwhile struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (s *saidMeanwhile) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *saidMeanwhile) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.out.String(), text)
}

// TestWatchReadsItsConfigurationAgain changes the file of a running get --watch: another rule takes effect and is told, a mistake is told
// and changes nothing.
func TestWatchReadsItsConfigurationAgain(t *testing.T) {
	t.Parallel()
	c := newCommandLines(t, demo.Options{Workspaces: 20, Scenario: "calm"}, func(config string) string { return config })
	was, err := os.ReadFile(c.config)
	if err != nil {
		t.Fatal(err)
	}
	write := func(more string) {
		t.Helper()
		if err := os.WriteFile(c.config+".new", []byte(string(was)+more), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(c.config+".new", c.config); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out, errs saidMeanwhile
	p := testProgram(time.Now)
	p.Stdout, p.Stderr = &out, &errs
	ended := make(chan int, 1)
	go func() {
		ended <- p.Run(ctx, []string{"get", "sources", "--watch", "--config", c.config, "--state-dir", c.dir})
	}()
	defer func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d:\n%s", code, errs.out.String())
		}
	}()
	until(t, "the table is there", func() bool { return out.has("SOURCE") })
	write("\n[rules.sandbox-oom]\nenabled = false\n")
	until(t, "the rule is told", func() bool { return errs.has("reloaded: [rules.sandbox-oom]") })
	write("\n[rules.sandbox-oom]\nenabled = 7\n")
	until(t, "the mistake is told", func() bool {
		return errs.has("not reloaded, the configuration read before stays in force: ") && errs.has("enabled")
	})
}
