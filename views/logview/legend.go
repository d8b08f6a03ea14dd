package logview

import (
	"fmt"

	"sandglass/views/kit"
	"sandglass/views/theme"
)

// keyed reports whether a letter says which log a line is from, because the name has no room before it.
func (v *View) keyed(w int) bool { return len(v.names) > 1 && w < namedFrom }

// letterOf stands for a log.
func letterOf(log int) string {
	if log < 0 || log > 'z'-'a' {
		return "?"
	}
	return string(rune('a' + log))
}

// key says which log each letter stands for, in at most a quarter of h rows, and two.
func (v *View) key(w, h int, t *theme.Theme) (rows []string) {
	most := max(h/4, 2)
	line, used := kit.NewLine(t, w).Gap(1), 1
	for i, n := range v.names {
		name := kit.Cut(shortName(n), max(w-keyWidth-2, 1))
		if need := keyWidth + kit.Width(name) + 2; used > 1 && used+need > w {
			if len(rows)+1 == most {
				more := fmt.Sprintf("%d more", len(v.names)-i)
				return append(rows, line.End(theme.Dim, more+" ").String())
			}
			rows = append(rows, line.String())
			line, used = kit.NewLine(t, w).Gap(1), 1
		}
		line.Put(theme.Strong, letterOf(i)).Gap(1).Put(theme.Dim, name).Gap(2)
		used += keyWidth + kit.Width(name) + 2
	}
	return append(rows, line.String())
}
