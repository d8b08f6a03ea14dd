package subjects

import (
	"strings"
	"testing"

	"sandglass/views/kit"
	"sandglass/views/theme"
)

// A command of a step is whole on its line, without the full stop of its sentence, so that it can be copied.
func TestCommandsOfStepsAreWhole(t *testing.T) {
	for step, want := range map[string][]string{
		"Then repair each. Run: sandglass repair helix-scratch-ac0596 (makes /workspace again, empty)": {
			"Then repair each. Run:", "sandglass repair helix-scratch-ac0596", "(makes /workspace again, empty)"},
		"Ask it: curl -I https://r2.demo.invalid. Then check its binding.": {
			"Ask it: curl -I https://r2.demo.invalid", "Then check its binding."},
		"4 are not used: sandglass get ws --filter 'a=b. C d'": {
			"4 are not used:", "sandglass get ws --filter 'a=b. C d'"},
		"Start it: docker start box. Then probe it: sandglass probe box": {
			"Start it: docker start box", "Then probe it: sandglass probe box"},
		"Look at cleanup jobs: each of them may do it.": {
			"Look at cleanup jobs: each of them may do", "it."},
		"Run: sandglass get ws --filter 'provider=cloudflare-sandbox attempt>30m state=open'": { // no line has room
			"Run:", "sandglass get ws --filter", "'provider=cloudflare-sandbox attempt>30m", "state=open'"},
	} {
		doc := &kit.Doc{}
		doc.Field("", kit.Span{Text: commandLines(step)})
		var got []string
		for _, l := range doc.Layout(theme.New(theme.NoColours, theme.ASCII), 43) {
			got = append(got, strings.TrimSpace(l))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s:\n%q, want\n%q", step, got, want)
		}
	}
}
