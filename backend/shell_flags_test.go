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
		if got := WithFlags(Text(Literal(in)), "--config 'my file.toml'").String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := WithFlags(Text(Literal(in)), "").String(); got != in {
			t.Errorf("without flags: %q", got)
		}
	}
}
