package browse

import (
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/views"
)

// sortBy sorts by the column with that name, or the only one that begins with it, in the column's own direction; a "-" before the
// name turns that round.
func (l *List[R]) sortBy(name string) views.Outcome {
	name, reversed := strings.CutPrefix(strings.ToLower(strings.TrimSpace(name)), "-")
	var begin []string
	for _, f := range l.fields() {
		if f == name {
			begin = []string{f}
			break
		}
		if strings.HasPrefix(f, name) {
			begin = append(begin, f)
		}
	}
	if len(begin) != 1 {
		which := l.fields()
		if len(begin) > 1 {
			which = begin
		}
		return views.Outcome{Say: fmt.Sprintf("%q is not the name of one column: %s", backend.Clean(name, 30).String(), strings.Join(which, ", "))}
	}
	l.sort = l.cfg.Set.Column(begin[0])
	l.reverse = l.cfg.Set.Columns[l.sort].Descending != reversed
	l.sortRows()
	return views.Outcome{Say: "sorted by " + begin[0]}
}
