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

// The id of a command that means others too is followed by what tells it from them, a key by its source in words. What takes no id
// stays as it is.
func TestCommandsSayWhichSubjectTheyMean(t *testing.T) {
	which := func(command, id string) (source, kind string) {
		switch {
		case id != "aaaa" && id != "it's two":
			return "", ""
		case ReadsAny(command):
			return "cf", "sandbox"
		}
		return "cf", ""
	}
	for in, want := range map[string][2]string{
		"Repair: sandglass repair aaaa. What was in it is gone.": {"Repair: sandglass repair aaaa --source cf. What was in it is gone.", "Repair: w on aaaa of cf. What was in it is gone."},
		"sandglass repair 'it'\\''s two' (makes /tmp again)":     {"sandglass repair 'it'\\''s two' --source cf (makes /tmp again)", "w on 'it'\\''s two' of cf (makes /tmp again)"},
		"sandglass why aaaa":                   {"sandglass why aaaa --source cf --kind sandbox", "enter on aaaa of cf"},
		"sandglass repair bbbb":                {"sandglass repair bbbb", "w on bbbb"},
		"sandglass stop-process aaaa, then go": {"sandglass stop-process aaaa --source cf, then go", "sandglass --config FILE stop-process aaaa --source cf, then go"},
		"sandglass get aaaa; sandglass aaaa":   {"sandglass get aaaa; sandglass aaaa", "sandglass --config FILE get aaaa; sandglass aaaa"},
	} {
		if got := CommandsWith(in, Reach{Which: which}); got != want[0] {
			t.Errorf("%q, want %q", got, want[0])
		}
		if got := CommandsWith(in, Reach{Which: which, Keys: map[string]string{"repair": "w", "why": "enter"}}); got != want[1] {
			t.Errorf("with keys %q, want %q", got, want[1])
		}
	}
}
