package runbook

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestEveryIncidentHasItsPage(t *testing.T) {
	pages := All()
	if len(pages) < 9 {
		t.Fatalf("%d pages, want 9 of incidents", len(pages))
	}
	for i, p := range pages {
		if want := strconv.Itoa(i + 1); i < 9 && p.Number != want || p.Own() != (i >= 9) {
			t.Errorf("page %d has number %s", i+1, p.Number)
		}
		for _, title := range required() {
			if len(p.Section(title)) < 40 {
				t.Errorf("page %s: section %q says next to nothing", p.Number, title)
			}
		}
		for _, a := range append(slices.Clone(p.Do), p.Dont...) {
			if a.Text.IsEmpty() || strings.Contains(a.Text.String(), "(needs:") || strings.HasSuffix(a.Text.String(), "…") {
				t.Errorf("page %s: action %q was not read whole", p.Number, a.Text)
			}
		}
		for _, a := range p.Dont {
			if !strings.HasPrefix(a.Text.String(), "Don't ") {
				t.Errorf("page %s: %q under Don't does not begin with Don't", p.Number, a.Text)
			}
		}
	}
}

func TestKnobsOfAllPagesAgree(t *testing.T) {
	defaults := map[string]string{}
	for _, p := range All() {
		for _, k := range p.Knobs {
			name := k.Name.String()
			if d, seen := defaults[name]; seen && d != k.Default.String() {
				t.Errorf("page %s gives %s the default %q, another page %q", p.Number, name, k.Default, d)
			}
			defaults[name] = k.Default.String()
		}
	}
	for name, want := range map[string]string{
		"maxGlobalConcurrentOpens": "unknown", "closeTimeoutMs": "30000", "destroyOnClose": "false", "sleepAfter": "about 10 minutes",
		"resetAfterMs": "unknown; assume off", "securityWindowMs": "60000",
	} {
		if defaults[name] != want {
			t.Errorf("%s has default %q, want %q", name, defaults[name], want)
		}
	}
}

func TestIncident(t *testing.T) {
	p, ok := Incident("07")
	if !ok || p.Title.String() != "Eviction storm" {
		t.Errorf("incident 07: %v %v", p, ok)
	}
	if len(p.Do) < 4 || p.Do[0].Needs.String() != "a deployment" || p.Do[0].Text.String() != "Limit how many open at once, per session and per provider, to what the platform allows." {
		t.Errorf("first action of page 7: %+v", p.Do)
	}
	own, ok := Incident("Container")
	if !ok || own.Number != "container" || !strings.Contains(own.Markdown(Local{}), NoIncident) || strings.Contains(p.Markdown(Local{}), NoIncident) {
		t.Errorf("the page with the name container: %v %v", own, ok)
	}
	for _, n := range []string{"", "0", "10", "x", "07-eviction-storm", "container.md"} {
		if _, ok := Incident(n); ok {
			t.Errorf("there is an incident %q", n)
		}
	}
}

func TestCorrectionsAreSaid(t *testing.T) {
	p, _ := Incident("5")
	text := p.Section(SectionCorrected)
	for _, want := range []string{"-mtime +1", "deletes active", "an open file", "local file system"} {
		if !strings.Contains(text, want) {
			t.Errorf("page 5 does not say %q", want)
		}
	}
}

func TestParseRefusesHalfAPage(t *testing.T) {
	whole := "# 1 T\n\n## Symptom\n\ns\n\n## What to check\n\n- c\n\n## Do\n\n- d\n\n## Don't\n\n- Don't x\n\n## Settings\n\n### `k`\n- Where: a\n- Default: b\n- Direction: c\n- Cost: d\n\n## References\n\n- [r](docs:x)\n"
	if _, err := parse("01-t.md", whole); err != nil {
		t.Fatalf("a whole page: %v", err)
	}
	for name, bad := range map[string]string{
		"other number":   strings.Replace(whole, "# 1", "# 2", 1),
		"no title":       strings.Replace(whole, "# 1 T", "T", 1),
		"no don't":       strings.Replace(whole, "## Don't\n\n- Don't x\n\n", "", 1),
		"empty do":       strings.Replace(whole, "- d\n", "\n", 1),
		"knob half":      strings.Replace(whole, "- Cost: d\n", "", 1),
		"knob odd":       strings.Replace(whole, "- Cost: d\n", "- Colour: d\n", 1),
		"text at top":    strings.Replace(whole, "# 1 T\n", "# 1 T\nstray\n", 1),
		"no references":  strings.Replace(whole, "\n## References\n\n- [r](docs:x)\n", "", 1),
		"wrong sections": strings.Replace(whole, "## Do\n", "## Does\n", 1),
	} {
		if _, err := parse("01-t.md", bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestLeadsReadsThePagesOfARulesNote(t *testing.T) {
	for note, want := range map[string]string{
		"1": "1",
		"1; 6 when the cause names schemaVersion":          "1 6",
		"7 for the retries; 1 or 6 for the cause itself":   "7 1 6",
		"none; pitfall 9 of the framework's upgrade guide": "",
		"2 when files are missing since":                   "2",
		"container; 7 when many at once":                   "container 7",
	} {
		if got := strings.Join(Leads(note), " "); got != want {
			t.Errorf("%q leads to %q, want %q", note, got, want)
		}
	}
	both := Together([]Local{{Text: "Call 1.", Links: []Link{{URL: "https://a"}}}, {Text: "Call 1."}, {Text: "~~~\nopen", Links: []Link{{URL: "https://a"}, {URL: "https://b"}}}, {Text: "Call 2."}})
	if both.Text != "Call 1.\n\n~~~\nopen\n~~~\n\nCall 2." || len(both.Links) != 2 {
		t.Errorf("together: %+v", both)
	}
}

func TestLocalTextStaysInItsPlace(t *testing.T) {
	p, _ := Incident("7")
	if strings.Contains(p.Markdown(Local{}), "At this site") {
		t.Error("a page without local text has its section")
	}
	text := p.Markdown(Local{Text: "# Do\nDo\n===\nring the bell\n```\nopen fence", Links: []Link{{"dash]board", "https://g.example/d?x=<1>"}, {URL: "https://w.example"}}})
	for _, want := range []string{"## At this site\n", "### Do", "ring the bell", "open fence\n```\n", `dash\]board`, `\<1\>`, "## Symptom\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if strings.Index(text, "At this site") > strings.Index(text, "## Symptom") {
		t.Error("the site's text does not come first")
	}
	if strings.Count(text, "\n# ") != 0 || strings.Contains(text, "\n===") {
		t.Error("a heading of the site's text can pass for ours")
	}
}

// TestEveryPageEndsInReferences: in page order, with the upgrade and error pages on all, and addresses that a site can set.
func TestEveryPageEndsInReferences(t *testing.T) {
	titles := []string{"transient errors and operator recovery", "lifecycle, durability and refs", "knobs", "cost", "local-bash", "schema drift and rollback", "restarts",
		"prompt injection", "RateLimitedLogger"}
	for i, p := range All() {
		text := p.Markdown(Local{})
		_, refs, ok := strings.Cut(text, "\n## References\n")
		if !ok || strings.Contains(refs, "\n## ") {
			t.Errorf("page %s does not end in references", p.Number)
		}
		want := []string{"[upgrade guide](<https", "[errors](<https"}
		if i < len(titles) {
			want = append([]string{"[" + escape(titles[i]) + "](<https"}, want...)
		}
		for at, w := range want {
			if lines := strings.Split(strings.TrimSpace(refs), "\n"); len(lines) != len(want) || !strings.Contains(lines[at], w) {
				t.Errorf("page %s: reference %d is not %s:\n%s", p.Number, at, w, refs)
			}
		}
	}
	p, _ := Incident("3")
	text := p.Markdown(Local{References: References{Base: "https://mirror.example/docs/", Own: []Link{{"Knobs", "https://wiki.example/knobs"}}}})
	for _, want := range []string{"[knobs](<" + escapeAddress("https://wiki.example/knobs"), "[errors](<" + escapeAddress("https://mirror.example/docs/guide/error-handling")} {
		if !strings.Contains(text, want) {
			t.Errorf("configured addresses: no %s in\n%s", want, text)
		}
	}
	if !strings.Contains(p.Advice(Local{}), "## References") {
		t.Error("the page beside a diagnosis has no references")
	}
}
