package cli

import (
	"io"
	"os"
	"path/filepath"
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
			cmd, err := parsed(p, line)
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

// parsed is the command of a line, and whether its flags and arguments are right.
func parsed(p *Program, line string) (*cobra.Command, error) {
	line, _, _ = strings.Cut(strings.ReplaceAll(line, " | ", " > "), " > ")
	cmd, rest, err := p.root().Find(fields(line))
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && cmd.Args != nil {
		err = cmd.Args(cmd, cmd.Flags().Args())
	}
	return cmd, err
}

// TestCommandsOfThePages: each line of a code block that begins with sandglass, in the README and the pages that show
// commands, is a command line that parses.
func TestCommandsOfThePages(t *testing.T) {
	p := &Program{App: &app.App{}, Scenarios: []string{"all", "calm"}, Stdout: io.Discard, Stderr: io.Discard}
	for page, least := range map[string]int{"README.md": 6, "docs/actions.md": 6, "docs/configuration.md": 4, "docs/backends/tmpdir.md": 4} {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range strings.SplitSeq(string(text), "\n") {
			command, ours := strings.CutPrefix(line, "sandglass ")
			if !ours {
				continue
			}
			command, _, _ = strings.Cut(strings.TrimSuffix(command, " &"), " #")
			if cmd, err := parsed(p, strings.ReplaceAll(command, `"`, "'")); err != nil || !cmd.HasParent() {
				t.Errorf("%s: %s: %v", page, line, err)
			}
			lines++
		}
		if lines < least {
			t.Errorf("%s shows %d command lines, not %d", page, lines, least)
		}
	}
	if _, err := parsed(p, "check --no-such-flag"); err == nil {
		t.Error("a wrong flag parses")
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
