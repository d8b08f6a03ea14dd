package subjects

import (
	"strings"

	"sandglass/views/kit"
)

// widest is how wide a column of a list on a page can be; what is longer stands out of its column and is not cut.
const widest = 40

// column is the width of one of the columns in a list on a page, without the two cells between it and the next.
type column struct{ width int }

func (c *column) fit(s string) { c.width = max(c.width, min(kit.Width(s), widest)) }

func (c *column) gap(s string) string { return strings.Repeat(" ", max(c.width-kit.Width(s), 0)+2) }

func (c *column) text(s string) string {
	if c.width == 0 {
		return ""
	}
	return s + c.gap(s)
}

func (c *column) right(s string) string {
	return strings.Repeat(" ", max(c.width-kit.Width(s), 0)) + s + "  "
}
