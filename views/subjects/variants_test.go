package subjects

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// plainText is a document without styles.
func plainText(d *kit.Doc) string {
	all := strings.Join(d.Layout(theme.New(theme.NoColours, theme.ASCII), 200), "\n")
	return strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[m", "").Replace(all)
}

func TestVariantsOfACauseAreShown(t *testing.T) {
	counts := map[string]int{"binding\x1f'SANDBOX'": 5, "binding\x1f'FILES'": 5}
	a := &alerts.Alert{Rule: "failed-too-long", Source: "helix", State: alerts.StateFiring, Cause: backend.Text("binding 'SANDBOX' is not defined"),
		SubjectCount: 10, Variants: alerts.VariantsOf(counts)}
	f := frameWith()
	const want = "2 variants: binding 'FILES' 5, 'SANDBOX' 5"
	if text := plainText(AlertPane(a, f, 0)); !strings.Contains(text, want) {
		t.Errorf("the pane does not tell the variants:\n%s", text)
	}
	if c := causeCell(a); c.Text.String() != "binding 'SANDBOX' is not defined; "+want || c.Short.String() != "2 variants: binding 'SANDBOX' is not defined" {
		t.Errorf("the line is %q, short %q", c.Text, c.Short)
	}
	if j := NewAlertJSON(a, &views.Snapshot{Board: &alerts.Board{}}); j.Variants == nil || j.Variants.Count != 2 || j.Variants.Text.String() != want || len(j.Variants.List) != 2 {
		t.Errorf("JSON %+v", j.Variants)
	}
	for _, host := range []string{"alpha", "beta", "gamma", "delta", "epsilon"} { // more than a line names: the details list them
		counts["binding\x1f'"+host+"'"] = 3
	}
	a.Variants = alerts.VariantsOf(counts)
	w := &writer{Doc: AlertPane(a, f, 0), f: f}
	w.variants(a)
	if text := plainText(w.Doc); !strings.Contains(text, "7 variants: binding 'FILES' 5, 'SANDBOX' 5, 'alpha' 3, 'beta' 3, 3 more") || !strings.Contains(text, "binding 'epsilon'  3") {
		t.Errorf("the page does not list the variants:\n%s", text)
	}
	if j := NewAlertJSON(&alerts.Alert{}, &views.Snapshot{Board: &alerts.Board{}}); j.Variants != nil {
		t.Error("an alert without variants has some in JSON")
	}
}
