package browse

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/subjects"
)

// unsorted is the natural order in a Look.
const unsorted = "none"

// Look is how the rows are shown now.
func (l *List[R]) Look() views.Look {
	look := views.Look{Filter: l.filterIn, Wide: l.wide, Group: l.groups.by}
	own := l.cfg.Set.Column(l.cfg.Set.DefaultSort)
	name, turned := unsorted, l.reverse
	if l.sort >= 0 {
		name, turned = l.cfg.Set.Columns[l.sort].Name, l.reverse != l.cfg.Set.Columns[l.sort].Descending
	}
	if l.sort != own || turned {
		look.Sort = name
		if turned {
			look.Sort = "-" + name
		}
	}
	for _, c := range l.cfg.Set.Columns {
		if on, chosen := l.chosen[c.Name]; chosen && on {
			look.Columns = append(look.Columns, c.Name)
		} else if chosen {
			look.Columns = append(look.Columns, "-"+c.Name)
		}
	}
	return look
}

// SetLook shows the rows in another way. What of the Look does not fit this screen is left out.
func (l *List[R]) SetLook(look views.Look) {
	l.wide, l.chosen = look.Wide, map[string]bool{}
	for _, name := range look.Columns {
		name, off := strings.CutPrefix(name, "-")
		if slices.Contains(l.fields(), name) {
			l.chosen[name] = !off
		}
	}
	if l.sort = l.cfg.Set.Column(l.cfg.Set.DefaultSort); l.sort >= 0 {
		l.reverse = l.cfg.Set.Columns[l.sort].Descending
	} else {
		l.reverse = false
	}
	name, turned := strings.CutPrefix(look.Sort, "-")
	if at := l.cfg.Set.Column(name); at >= 0 || name == unsorted {
		if l.sort, l.reverse = at, turned; at >= 0 {
			l.reverse = l.cfg.Set.Columns[at].Descending != turned
		}
	}
	l.groups = groups{}
	if look.Group != "" && l.notAGroup(look.Group) == "" {
		l.groups.by = look.Group
	}
	l.sortRows()
	l.setFilter(look.Filter)
}

// Seek puts the cursor on a row as soon as it is there, unless the viewer moves it before.
func (l *List[R]) Seek(k backend.Key) { l.want = k }

// CheckLook says what of a Look does not fit this screen: the part's name (filter, sort, group or columns) and why. Both are empty where
// everything does.
func (l *List[R]) CheckLook(look views.Look) (part, why string) {
	names := l.fields()
	_, err := filter.Parse(look.Filter, names...)
	if wrong := (*filter.Error)(nil); errors.As(err, &wrong) {
		return "filter", fmt.Sprintf("%s (character %d of the filter)", wrong.What, wrong.Position)
	}
	if name := strings.TrimPrefix(look.Sort, "-"); look.Sort != "" && name != unsorted && !slices.Contains(names, name) {
		return "sort", notAColumn(name, names)
	}
	if why := l.notAGroup(look.Group); look.Group != "" && why != "" {
		return "group", why
	}
	for _, column := range look.Columns {
		if name := strings.TrimPrefix(column, "-"); !slices.Contains(names, name) {
			return "columns", notAColumn(name, names)
		}
	}
	return "", ""
}

func notAColumn(name string, names []string) string {
	return fmt.Sprintf("%q is not the name of a column: %s", backend.Clean(name, 30).String(), strings.Join(names, ", "))
}

// toggle shows a column that is not on the screen, and takes away one that is. Without a name it says which there are.
func (l *List[R]) toggle(name string) views.Outcome {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return views.Outcome{Say: "write a column after it: " + strings.Join(l.fields(), ", ")}
	}
	if !slices.Contains(l.fields(), name) {
		return views.Outcome{Say: notAColumn(name, l.fields())}
	}
	if l.chosen == nil {
		l.chosen = map[string]bool{}
	}
	at := l.cfg.Set.Column(name)
	if slices.Contains(l.shown, at) {
		if len(l.shown) == 1 {
			return views.Outcome{Say: name + " is the last column: it stays"}
		}
		l.chosen[name] = false
		return views.Outcome{Say: name + " is off"}
	}
	l.chosen[name] = true
	return views.Outcome{Say: name + " is on, where there is room"}
}

// toggleWide gives the table the whole screen, or takes that back.
func (l *List[R]) toggleWide() views.Outcome {
	if l.wide = !l.wide; l.wide {
		return views.Outcome{Say: "wide: the table alone, with every column there is room for"}
	}
	return views.Outcome{Say: "not wide any more"}
}

// offered reports whether a column may stand on a screen of w cells.
func (l *List[R]) offered(i, w int) bool {
	c := &l.cfg.Set.Columns[i]
	if on, chosen := l.chosen[c.Name]; chosen {
		return on
	}
	switch c.Where {
	case subjects.NarrowOnly:
		return w < wideColumns && !l.wide
	case subjects.WideOnly, subjects.WideScreens:
		return w >= wideColumns || l.wide && c.Where == subjects.WideOnly
	case subjects.Extra:
		return w >= extraColumns || l.wide
	case subjects.Reports:
		return false
	case subjects.Everywhere, subjects.Screens:
	}
	return true
}
