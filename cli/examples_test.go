package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sandglass/app"
)

// TestExamples: every command ends its help with examples, and each of them is a command line of that command that parses.
func TestExamples(t *testing.T) {
	p := &Program{App: &app.App{}, Scenarios: []string{"all", "calm", "eviction-storm"}, Stdout: io.Discard, Stderr: io.Discard}
	seen := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		path := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "sandglass"), " ")
		seen[path] = true
		if !strings.HasPrefix(c.Example, "  sandglass") {
			t.Errorf("%q has no example", path)
		}
		for _, line := range examples[path] {
			root := p.root()
			line, _, _ = strings.Cut(strings.ReplaceAll(line, " | ", " > "), " > ")
			args := fields(line)
			cmd, rest, err := root.Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil && cmd.Args != nil {
				err = cmd.Args(cmd, cmd.Flags().Args())
			}
			if err != nil || cmd.Name() == "silence" && cmd.Flags().NArg() == 0 || !strings.HasPrefix(cmd.CommandPath(), strings.TrimSpace("sandglass "+path)) {
				t.Errorf("%s: %v", line, err)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(p.root())
	for path := range examples {
		if !seen[path] {
			t.Errorf("examples of %q, which is no command", path)
		}
	}
}

// fields parts a command line at blanks, except in single quotes.
func fields(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}
