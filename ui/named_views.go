package ui

import (
	"fmt"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
)

// View is a named view: a screen, and how it shows its rows.
type View struct {
	Name   string `json:"name"`
	Screen string `json:"screen"` // its name in the tabs, in lower case
	views.Look
}

// longestViewName is how many characters a view's name can have.
const longestViewName = 40

// CheckView says which key of a view is wrong (name, screen, filter, sort, group or columns), and why; empty: it is a view.
func CheckView(v View) (key, why string) {
	if why := badViewName(v.Name); why != "" {
		return "name", why
	}
	var names []string
	for _, s := range screens() {
		if name := strings.ToLower(s.Name()); name == v.Screen {
			return s.CheckLook(v.Look)
		} else {
			names = append(names, name)
		}
	}
	return "screen", fmt.Sprintf("%q is not a screen: %s", v.Screen, strings.Join(names, ", "))
}

func badViewName(name string) string {
	switch {
	case name == "":
		return "a view needs a name"
	case len([]rune(name)) > longestViewName:
		return fmt.Sprintf("a view's name has at most %d characters", longestViewName)
	case backend.Clean(name, longestViewName).String() != name || strings.TrimSpace(name) != name:
		return fmt.Sprintf("%q cannot be shown as a name", backend.Clean(name, longestViewName).String())
	}
	return ""
}

// named are all views: those of the configuration, then those that the viewer saved.
func (x *scope) named() []View { return append(slices.Clone(x.viewer.Views), x.kept.Views...) }

// saveView keeps how the screen is shown now, under a name.
func (x *scope) saveView(name string) reply {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return reply{Say: "write a name after it: :save NAME"}
	case badViewName(name) != "":
		return reply{Say: badViewName(name)}
	case slices.ContainsFunc(x.viewer.Views, func(v View) bool { return v.Name == name }):
		return reply{Say: fmt.Sprintf("%q is a view of the configuration: choose another name", name)}
	}
	if what, _ := x.screen.FilterProblem(); what != "" {
		return reply{Say: "not saved: " + what}
	}
	v := View{Name: name, Screen: strings.ToLower(x.screen.Name()), Look: x.screen.Look()}
	return x.keep(fmt.Sprintf("saved as %q: %s opens it", name, ":view "+name), func(k *Kept) {
		k.Views = append(withoutView(k.Views, name), v)
		k.Views = k.Views[max(0, len(k.Views)-mostKept):]
	})
}

// forgetView removes a view that was saved.
func (x *scope) forgetView(name string) reply {
	name = strings.TrimSpace(name)
	if i := slices.IndexFunc(x.named(), func(v View) bool { return v.Name == name }); i >= 0 && i < len(x.viewer.Views) {
		return reply{Say: fmt.Sprintf("%q is a view of the configuration: remove it there", name)}
	} else if i < 0 {
		return x.whichView(name)
	}
	return x.keep(fmt.Sprintf("the view %q is forgotten", name), func(k *Kept) { k.Views = withoutView(k.Views, name) })
}

func withoutView(all []View, name string) []View {
	return slices.DeleteFunc(slices.Clone(all), func(v View) bool { return v.Name == name })
}

// openView opens the view with that name, or the only one that begins with it.
func (x *scope) openView(name string) reply {
	name = strings.TrimSpace(name)
	var found []View
	for _, v := range x.named() {
		if v.Name == name {
			found = []View{v}
			break
		}
		if name != "" && strings.HasPrefix(strings.ToLower(v.Name), strings.ToLower(name)) {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		return x.whichView(name)
	}
	return reply{View: &found[0]}
}

// whichView says which views there are.
func (x *scope) whichView(name string) reply {
	var names []string
	for _, v := range x.named() {
		names = append(names, v.Name)
	}
	switch {
	case len(names) == 0:
		return reply{Say: "there is no view yet: :save NAME makes one of what is shown"}
	case name == "":
		return reply{Say: "write a name after it: " + strings.Join(names, ", ")}
	}
	return reply{Say: fmt.Sprintf("%q is not one view: %s", backend.Clean(name, longestViewName).String(), strings.Join(names, ", "))}
}

// show opens a named view.
func show(m *Model, v *View) {
	for _, s := range m.screens {
		if strings.ToLower(s.Name()) == v.Screen {
			m.open(s.Number())
			s.SetLook(v.Look)
			return
		}
	}
	m.remark(fmt.Sprintf("the view %q is of a screen that is not there: %s", v.Name, v.Screen))
}

// viewCommands are the views as the palette offers them.
func (x *scope) viewCommands() []keys.Binding {
	var out []keys.Binding
	for _, v := range x.named() {
		out = append(out, keys.Binding{Context: keys.List, Intent: keys.Intent{Action: keys.OpenView, Text: v.Name}, Command: "view " + v.Name})
	}
	return out
}
