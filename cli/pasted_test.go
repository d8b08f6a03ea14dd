package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"sandglass/backend"
)

// command is a command of ours in a text; its group is what follows the program's name.
var command = regexp.MustCompile(`\bsandglass ((?:--\S+ \S+ )*)[a-z]+`)

// What a command prints about other commands carries its own --config and --state-dir, on both outputs.
func TestPrintedCommandsCanBePasted(t *testing.T) {
	failing := "[[source]]\nid = \"a\"\nkind = \"fake\"\nfailing = 12\n"
	down := failing + "[[source]]\nid = \"b\"\nkind = \"fake\"\nmode = \"down\"\n"
	seen := 0
	for _, args := range []string{"get workspaces", "get ws nothing", "get nothing", "check", "why nothing", "ack nothing --reason x", "note", "rules list", "rules show nothing",
		"runbook 9", "runbook 2", "runbook nothing x", "doctor", "silence end", "silence list", "config", "audit", "get --watch", "bundle nothing", "reset nothing"} {
		for _, config := range []string{failing, down, "[[source]]\nid = 3\n", ""} {
			out, errs, _ := run(t, config, strings.Fields(args)...)
			for line := range strings.Lines(out + errs) {
				for _, m := range command.FindAllStringSubmatch(line, -1) {
					seen++
					if !strings.HasSuffix(strings.TrimSpace(line), "--help") && (!strings.Contains(m[1], "--config ") || !strings.Contains(m[1], "--state-dir ")) {
						t.Errorf("%s: %q cannot be pasted", args, line)
					}
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d printed commands", seen)
	}
}

// Each command that looks at a configuration or a state directory gets the flags, and nothing else does.
func TestEveryCommandIsKnownToPasting(t *testing.T) {
	help, _, _ := run(t, "[[source]]\nid = \"a\"\nkind = \"fake\"\n", "--help")
	apart := map[string]bool{"demo": true, "completion": true, "help": true, "man": true, "version": true}
	listed := regexp.MustCompile(`(?m)^  ([a-z]+) {2,}[A-Z]`).FindAllStringSubmatch(help, -1)
	for _, m := range listed {
		if got := strings.Contains(backend.CommandsWith("sandglass "+m[1]+" it", backend.Reach{Flags: "--config f"}), "sandglass --config f "+m[1]); got == apart[m[1]] {
			t.Errorf("%s gets the flags: %v", m[1], got)
		}
	}
	if len(listed) < 20 {
		t.Fatalf("only %d commands in the help", len(listed))
	}
}
