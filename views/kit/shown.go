package kit

import "sandglass/views/theme"

// shown is the document as the theme shows its texts, before they are measured, wrapped and cut.
func (d *Doc) shown(t *theme.Theme) *Doc {
	if !t.Replaces() {
		return d
	}
	c := *d
	c.label, c.parts = 0, make([]part, len(d.parts))
	for i, p := range d.parts {
		p.label = t.Shown(p.label)
		spans := make([]Span, len(p.spans))
		for j, s := range p.spans {
			spans[j] = Span{Tone: s.Tone, Text: t.Shown(s.Text), Link: s.Link}
		}
		p.spans = spans
		if p.kind == partField || p.kind == partChart {
			c.label = max(c.label, min(Width(p.label), MaxLabel))
		}
		c.parts[i] = p
	}
	return &c
}
