package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/cli"
	"sandglass/config"
)

// testProgram is the program as main wires it, on a given clock and without a terminal.
func testProgram(now func() time.Time) *cli.Program {
	began := time.Now()
	var dialer net.Dialer
	return &cli.Program{
		Version: "test", Kinds: kinds(), Acts: actionKeys(), Operator: operatorKeys(),
		Console: func(context.Context, cli.Console) error { return errors.New("no screen in this test") },
		Demo:    func(context.Context, cli.Demo) error { return errors.New("no demo in this test") },
		Now:     now, Mono: func() time.Duration { return time.Since(began) }, Moment: alerts.ReadSystemClock,
		Spawn: backend.NewSpawner(nil), Cleaner: backend.NewCleaner(), Dial: dialer.DialContext,
		Command: command,
		Stdout:  io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" },
	}
}

func buildConfig(t *testing.T, p *cli.Program, text string) ([]cli.Source, []alerts.Rule) {
	t.Helper()
	c, err := config.Parse([]byte(text), "demo", p.Known())
	if err != nil {
		t.Fatal(err)
	}
	sources, rules, err := p.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	return sources, rules
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sandglass.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
