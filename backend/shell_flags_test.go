package backend

import "testing"

// A command is printed with the flags of the command line that prints it; words that are no command stay.
func TestCommandsCarryTheFlags(t *testing.T) {
	for in, want := range map[string]string{
		"Make room: sandglass clean --dry-run lists leftovers.": "Make room: sandglass --config 'my file.toml' clean --dry-run lists leftovers.",
		"sandglass get ws, or sandglass why ID":                 "sandglass --config 'my file.toml' get ws, or sandglass --config 'my file.toml' why ID",
		"label sandglass.session; sandglass - it":               "label sandglass.session; sandglass - it",
		"the container sandglass is up":                         "the container sandglass is up",
	} {
		if got := WithFlags(Text(Literal(in)), Reach{Flags: "--config 'my file.toml'"}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := WithFlags(Text(Literal(in)), Reach{}).String(); got != in {
			t.Errorf("without flags: %q", got)
		}
	}
}

// Where no other command reaches what is shown, the key that does the same stands for a command. A command that no key stands
// for reads no other sources either.
func TestKeysStandForCommands(t *testing.T) {
	reach := Reach{Flags: "--state-dir d", Keys: map[string]string{"clean": "C", "repair": "w", "bundle": "E", "destroy": "D", "why": "enter", "get ws": "2", "get events": "8"}}
	for in, want := range map[string]string{
		"Make room: sandglass clean --dry-run. A plan quarantines only these.": "Make room: C. A plan quarantines only these.",
		"Two of them. Run: sandglass repair 'my box' (makes /tmp again)":       "Two of them. Press w on 'my box' (makes /tmp again)",
		"Save it before a reset (sandglass bundle s1/box). A reset ends it.":   "Save it before a reset (E on s1/box). A reset ends it.",
		"Destroy it: x, or sandglass destroy.":                                 "Destroy it: x, or D.",
		"Read the Timeline: 8, or sandglass get events.":                       "Read the Timeline: 8.",
		"Unused: sandglass get ws --filter 'works=working attempt>30m'":        "Unused: 2, then / works=working attempt>30m",
		"Unused: sandglass get ws --filter works=working":                      "Unused: 2, then / works=working",
		"`sandglass why ID`, then sandglass repair b":                          "`enter on ID`, then w on b",
		"run sandglass refs check --reads 2..3":                                "run sandglass --config FILE --state-dir d refs check --reads 2..3",
		"sudo sandglass clean --source a --purge":                              "sudo sandglass --config FILE --state-dir d clean --source a --purge",
		"sandglass get sharing":                                                "sandglass --config FILE --state-dir d get sharing",
		"the container sandglass is up":                                        "the container sandglass is up",
	} {
		if got := CommandsWith(in, reach); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
