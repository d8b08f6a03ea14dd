package runbook

import (
	"slices"
	"strings"

	"sandglass/backend"
)

// Local is what the operators of a site add to a page.
type Local struct {
	Text       string // Markdown of theirs
	Links      []Link
	References References
}

// References say where the links at the end of the pages lead.
type References struct {
	Base string // address of the framework's documentation; empty: DefaultDocs
	Own  []Link // by the title of a reference: addresses instead of those of the documentation
}

// DefaultDocs is the framework's public documentation.
const DefaultDocs = "https://agents.open-source.onhelix.ai"

// docsScheme begins the address of a page of the documentation in References.
const docsScheme = "](docs:"

// EveryPage is the name under which a site's additions hold what is the same on all pages.
const EveryPage = ""

// LocalOf is what a site adds to the page of a rule or a number.
func LocalOf(all map[string]Local, name string) Local {
	l := all[name]
	l.References = all[EveryPage].References
	return l
}

// links writes the section of references with their addresses.
func (r References) links(body string) string {
	base := r.Base
	if base == "" {
		base = DefaultDocs
	}
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		title, path, ok := strings.Cut(strings.TrimPrefix(l, "- ["), docsScheme)
		if !ok {
			continue
		}
		address := strings.TrimRight(base, "/") + "/" + strings.TrimSuffix(path, ")")
		if j := slices.IndexFunc(r.Own, func(x Link) bool { return strings.EqualFold(x.Title, title) }); j >= 0 {
			address = r.Own[j].URL
		}
		lines[i] = "- [" + escape(title) + "](<" + escapeAddress(address) + ">)"
	}
	return strings.Join(lines, "\n")
}

// Link is an address that a page points to.
type Link struct {
	Title string
	URL   string
}

// Leads lists the pages that a rule's note about the runbook names: "1; 6 when the cause names schemaVersion".
func Leads(note string) []string {
	var out []string
	for part := range strings.SplitSeq(note, ";") {
		for number := range strings.SplitSeq(part, " or ") {
			number, _, _ = strings.Cut(strings.TrimSpace(number), " ")
			if p, ok := Incident(number); ok && !slices.Contains(out, p.Number) {
				out = append(out, p.Number)
			}
		}
	}
	return out
}

// Together is what several rules add to one page; what they have in common stands there once.
func Together(all []Local) Local {
	var out Local
	var texts []string
	for _, l := range all {
		if t := closeFences(strings.TrimSpace(l.Text)); t != "" && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
		for _, link := range l.Links {
			if !slices.Contains(out.Links, link) {
				out.Links = append(out.Links, link)
			}
		}
	}
	out.Text = strings.Join(texts, "\n\n")
	return out
}

// Markdown writes the whole page, the site's own text first among the sections: who wrote it knows the place better
// than we do.
func (p *Page) Markdown(l Local) string { return p.markdown(l, func(string) bool { return true }) }

// Advice is Markdown without the knobs, for where a diagnosis stands beside it: that has them with their values.
func (p *Page) Advice(l Local) string {
	return p.markdown(l, func(section string) bool { return section != SectionKnobs })
}

func (p *Page) markdown(l Local, keep func(section string) bool) string {
	var b strings.Builder
	b.WriteString("# " + p.Number + " " + p.Title.String() + "\n")
	if p.Own() {
		b.WriteString("\n" + NoIncident + "\n")
	}
	if text := strings.TrimSpace(l.Text); text != "" || len(l.Links) > 0 {
		b.WriteString("\n## At this site\n\n")
		if text != "" {
			b.WriteString(closeFences(demote(text)) + "\n\n")
		}
		for _, link := range l.Links {
			title := link.Title
			if title == "" {
				title = link.URL
			}
			b.WriteString("- [" + escape(title) + "](<" + escapeAddress(link.URL) + ">)\n")
		}
	}
	for _, s := range p.Sections {
		body := s.Body
		if s.Title.String() == SectionRefs {
			body = l.References.links(body)
		}
		if keep(s.Title.String()) {
			b.WriteString("\n## " + s.Title.String() + "\n\n" + body + "\n")
		}
	}
	return b.String()
}

// demote moves the headings of a text below those of the page, so that a site's text cannot pass for ours.
func demote(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		t := strings.TrimLeft(l, " ")
		if strings.HasPrefix(t, "# ") || strings.HasPrefix(t, "## ") {
			lines[i] = "### " + strings.TrimLeft(t, "# ")
		} else if i > 0 && t != "" && strings.Trim(t, "= ") == "" {
			lines[i] = "" // the underline of a heading
		}
	}
	return strings.Join(lines, "\n")
}

// closeFences ends a code block that the text leaves open: it would swallow the rest of the page.
func closeFences(text string) string {
	open := ""
	for l := range strings.SplitSeq(text, "\n") {
		t := strings.TrimLeft(l, " ")
		for _, mark := range []string{"```", "~~~"} {
			if !strings.HasPrefix(t, mark) || open != "" && !strings.HasPrefix(t, open) {
				continue
			}
			if open == "" {
				open = t[:len(t)-len(strings.TrimLeft(t, mark[:1]))]
			} else if strings.Trim(t, mark[:1]+" ") == "" {
				open = ""
			}
		}
	}
	if open != "" {
		text += "\n" + open
	}
	return text
}

// escapeAddress makes an address stand for itself between < and >, where only these, backslashes and references to characters
// have a meaning.
func escapeAddress(s string) string {
	return strings.NewReplacer(`\`, `\\`, "<", `\<`, ">", `\>`, "&", `\&`).Replace(backend.Clean(s, 500).String())
}

// escape makes a text stand for itself in Markdown: every ASCII punctuation character may follow a backslash.
func escape(s string) string {
	var b strings.Builder
	for _, r := range backend.Clean(s, 500).String() {
		if r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
