package browse

import (
	"cmp"
	"maps"
	"strings"

	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// Bounds of what is looked through and offered while a filter is typed.
const (
	suggestRows  = 5000 // rows whose values are counted
	suggestMost  = 24   // words
	suggestWidth = 28   // cells of a value; longer ones are nothing to choose from
)

// fields are the names that a filter may use: columns that only stand in for others on the screen have none.
func (l *List[R]) fields() []string {
	var names []string
	for _, c := range l.cfg.Set.Columns {
		if c.Where != subjects.NarrowOnly && c.Where != subjects.WideScreens {
			names = append(names, c.Name)
		}
	}
	return names
}

// Suggest offers how the last word of the filter that is typed can go on: with a field, or with a value that the field
// has in some row, the most frequent first.
func (l *List[R]) Suggest(f *views.Frame) []views.Suggestion {
	l.sync(f)
	text := l.filterIn
	start := strings.LastIndexByte(text, ' ') + 1
	for start < len(text) && text[start] == '!' {
		start++
	}
	stem, word := text[:start], text[start:]
	at := strings.IndexAny(word, ":=~")
	if at < 0 {
		var out []views.Suggestion
		for _, name := range l.fields() {
			if strings.HasPrefix(name, strings.ToLower(word)) {
				out = append(out, views.Suggestion{Word: name + ":", Text: stem + name + ":"})
			}
		}
		return out
	}
	column := l.cfg.Set.Column(strings.ToLower(word[:at]))
	if column < 0 {
		return nil
	}
	begun := strings.ToLower(word[at+1:])
	var out []views.Suggestion
	for _, v := range l.values(column) {
		if low := strings.ToLower(v); low == begun || !strings.HasPrefix(low, begun) {
			continue
		}
		quoted := v
		if strings.ContainsAny(v, " \"'") {
			quoted = `'` + v + `'`
		}
		if out = append(out, views.Suggestion{Word: v, Text: stem + word[:at+1] + quoted + " "}); len(out) == suggestMost {
			break
		}
	}
	return out
}

// values are the short texts of a column, the most frequent first.
func (l *List[R]) values(column int) []string {
	count, n := map[string]int{}, 0
	for row := range l.cfg.Set.All(l.cur.Snapshot()) {
		if n++; n > suggestRows {
			break
		}
		l.cur.Row = row
		if v := l.cur.Cell(column).Text.String(); v != "" && v != "–" && kit.Width(v) <= suggestWidth && !strings.Contains(v, "'") {
			count[v]++
		}
	}
	return stable.Sorted(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], strings.Compare(a, b))
	})
}
