// Package runbook holds one page of advice per incident of a workspace fleet, and the diagnoses that fill in what a
// State proves, so that the reader gets conclusions and not homework.
//
// What the pages say about the agent framework follows its public documentation, https://agents.open-source.onhelix.ai
// (workspaces/runbook and workspaces/upgrading), and its mirror https://agents-abf5c3.gitlab.io.
package runbook

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sandglass/backend"
)

//go:embed *.md
var files embed.FS

// Page is the advice for one incident.
type Page struct {
	Number   string // as alerts carry it: "1" to "9", or the name of a page of Sandglass's own
	Title    backend.Safe
	Sections []Section
	Do, Dont []Action
	Knobs    []Knob

	file string // that it is embedded from
}

// Section is one part of a page.
type Section struct {
	Title backend.Safe
	Body  string // Markdown; draw it with a renderer that cleans text
}

// Action is one line of advice.
type Action struct {
	Text backend.Safe
	// Needs is what it takes: a redeploy, access to the host, a person who decides. Empty: nothing special.
	Needs backend.Safe
}

// Knob is one setting that matters to an incident.
type Knob struct {
	Name      backend.Safe `json:"name"`
	Where     backend.Safe `json:"where"`   // it is set
	Default   backend.Safe `json:"default"` // "unknown" where no source states one
	Direction backend.Safe `json:"direction"`
	Cost      backend.Safe `json:"cost"` // of turning it that way
}

// The sections that every page has, in their order; Corrected follows on pages that correct common advice, and References
// ends each page.
const (
	SectionSymptom   = "Symptom"
	SectionCheck     = "What to check"
	SectionDo        = "Do"
	SectionDont      = "Don't"
	SectionKnobs     = "Settings"
	SectionCorrected = "Common advice, corrected"
	SectionRefs      = "References"
)

func required() []string {
	return []string{SectionSymptom, SectionCheck, SectionDo, SectionDont, SectionKnobs}
}

// Own reports whether the page is Sandglass's own: it has a name, and no incident of the framework's runbook fits.
func (p *Page) Own() bool { return p.Number != "" && !numbered(p.Number) }

func numbered(name string) bool { return strings.Trim(name[:1], "0123456789") == "" }

// NoIncident is what a page of Sandglass's own says of the runbook.
const NoIncident = "The site's runbook has no page for this. Sandglass brings this page."

// All returns the pages: those with numbers in their order, then those with names.
func All() []*Page {
	names, err := files.ReadDir(".")
	if err != nil {
		panic("the embedded pages cannot be listed: " + err.Error())
	}
	out := make([]*Page, len(names))
	for i, f := range names {
		out[i] = embedded(f.Name(), anywhere, "")
	}
	return out
}

// embedded is the page of a file, as it concerns a platform and the client of its engine.
func embedded(name string, at platform, client string) *Page {
	text, err := files.ReadFile(name)
	if err != nil {
		panic("embedded page " + name + ": " + err.Error())
	}
	p, err := parse(name, inClient(textOn(string(text), at), client))
	if err != nil {
		panic("embedded page: " + err.Error()) // a test parses them all
	}
	p.file = name
	return p
}

// Incident returns the page of one incident by its number ("7" and "07" alike) or its name; false when there is none.
func Incident(number string) (*Page, bool) {
	number = strings.ToLower(strings.TrimLeft(strings.TrimSpace(number), "0"))
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		panic("the embedded pages cannot be listed: " + err.Error())
	}
	for _, name := range names { // only the one is parsed: a screen asks with every frame
		if number != "" && numberOf(name) == number {
			return embedded(name, anywhere, ""), true
		}
	}
	return nil, false
}

// numberOf is the number or name of the page in a file: "07-eviction-storm.md" has page 7, "container.md" page container.
func numberOf(file string) string {
	base := strings.TrimSuffix(path.Base(file), ".md")
	if numbered(base) {
		base, _, _ = strings.Cut(base, "-")
	}
	return strings.TrimLeft(base, "0")
}

// Numbers lists the numbers and names of all pages.
func Numbers() []string {
	var out []string
	for _, p := range All() {
		out = append(out, p.Number)
	}
	return out
}

// Section returns the body of a section, empty when the page has none of that title.
func (p *Page) Section(title string) string {
	for _, s := range p.Sections {
		if s.Title.String() == title {
			return s.Body
		}
	}
	return ""
}

// parse reads a page: a title line "# N Title", then sections "## …". The file's name begins with the number, or is the
// page's name.
func parse(name, text string) (*Page, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	number, title, ok := strings.Cut(strings.TrimPrefix(lines[0], "# "), " ")
	if !ok || !strings.HasPrefix(lines[0], "# ") || numberOf(name) != number {
		return nil, fmt.Errorf("%s: the first line must be \"# %s Title\"", name, numberOf(name))
	}
	p := &Page{Number: number, Title: backend.Clean(title, 80)}
	lines = lines[1:]
	for i, begin := 0, 0; i < len(lines); i++ {
		if t, ok := strings.CutPrefix(lines[i], "## "); ok {
			p.Sections = append(p.Sections, Section{Title: backend.Clean(t, 80)})
			begin = i + 1
		} else if n := len(p.Sections); n == 0 && strings.TrimSpace(lines[i]) != "" {
			return nil, fmt.Errorf("%s: %q comes before the first section", name, lines[i])
		} else if n > 0 && (i+1 == len(lines) || strings.HasPrefix(lines[i+1], "## ")) {
			p.Sections[n-1].Body = strings.TrimSpace(strings.Join(lines[begin:i+1], "\n"))
		}
	}
	p.Sections = slices.DeleteFunc(p.Sections, func(s Section) bool { return s.Title.String() == SectionCorrected && s.Body == "" })
	return p, p.fill(name)
}

func (p *Page) fill(name string) error {
	for i, title := range required() {
		if i >= len(p.Sections) || p.Sections[i].Title.String() != title || p.Sections[i].Body == "" {
			return fmt.Errorf("%s: section %d must be %q and say something", name, i+1, title)
		}
	}
	if last := p.Sections[len(p.Sections)-1]; last.Title.String() != SectionRefs || !strings.Contains(last.Body, docsScheme) {
		return fmt.Errorf("%s: the last section must be %q with links", name, SectionRefs)
	}
	p.Do = parseActions(p.Section(SectionDo))
	p.Dont = parseActions(p.Section(SectionDont))
	knobs, err := parseKnobs(p.Section(SectionKnobs))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.Knobs = knobs
	if len(p.Do) == 0 || len(p.Dont) == 0 || len(p.Knobs) == 0 {
		return fmt.Errorf("%s: needs at least one line under Do, one under Don't and one setting", name)
	}
	return nil
}

// bullets joins the lines of each top-level list item.
func bullets(body string) []string {
	var out []string
	for l := range strings.SplitSeq(body, "\n") {
		if item, ok := strings.CutPrefix(l, "- "); ok {
			out = append(out, item)
		} else if n := len(out); n > 0 && strings.TrimSpace(l) != "" {
			out[n-1] += " " + strings.TrimSpace(l)
		}
	}
	return out
}

// parseActions reads list items; what an action needs stands at its end as "(needs: …)".
func parseActions(body string) []Action {
	var out []Action
	for _, item := range bullets(body) {
		text, needs := item, ""
		if i := strings.LastIndex(item, "(needs: "); i >= 0 && strings.HasSuffix(item, ")") {
			text, needs = strings.TrimSpace(item[:i]), strings.TrimSuffix(item[i+len("(needs: "):], ")")
		}
		out = append(out, Action{Text: plainText(text), Needs: plainText(needs)})
	}
	return out
}

// parseKnobs reads cards: "### `name`" and a list of where, default, direction, cost.
func parseKnobs(body string) ([]Knob, error) {
	var out []Knob
	for card := range strings.SplitSeq("\n"+body, "\n### ") {
		if strings.TrimSpace(card) == "" {
			continue
		}
		head, rest, _ := strings.Cut(card, "\n")
		k := Knob{Name: plainText(head)}
		fields := map[string]*backend.Safe{"where": &k.Where, "default": &k.Default, "direction": &k.Direction, "cost": &k.Cost}
		for _, item := range bullets(rest) {
			name, value, _ := strings.Cut(item, ": ")
			f, ok := fields[strings.ToLower(name)]
			if !ok || value == "" {
				return nil, fmt.Errorf("setting %s: %q is none of where, default, direction, cost", k.Name, item)
			}
			*f = plainText(value)
		}
		if slices.Contains([]bool{k.Where.IsEmpty(), k.Default.IsEmpty(), k.Direction.IsEmpty(), k.Cost.IsEmpty()}, true) {
			return nil, fmt.Errorf("setting %s: where, default, direction and cost are all needed", k.Name)
		}
		out = append(out, k)
	}
	return out, nil
}

// plainText drops the marks of code spans and emphasis.
func plainText(s string) backend.Safe {
	return backend.Clean(strings.ReplaceAll(strings.ReplaceAll(s, "`", ""), "**", ""), 600)
}
