package keys

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
)

// names are the actions as a configuration calls them. Screens and verbs are called by their own names.
var names = map[Action]string{
	Quit: "quit", Help: "help", Palette: "palette", Back: "back", Enter: "open", Up: "up", Down: "down", PageUp: "page-up", PageDown: "page-down",
	Top: "top", Bottom: "bottom", Filter: "filter", Sort: "sort", SortReverse: "reverse", NextLink: "next", PrevLink: "previous", Mark: "mark",
	Copy: "copy", Redraw: "redraw", Suspend: "suspend", Runbook: "runbook", NextPage: "next-page", PrevPage: "previous-page",
	Acknowledge: "acknowledge", Unacknowledge: "unacknowledge", Silence: "silence", SilenceList: "silences", Differs: "diff", Expire: "expire", Verbs: "actions",
	Doctor: "doctor", Arm: "arm", Disarm: "disarm", ShowRun: "show-plan", Requests: "requests", NextWave: "next-batch", Bundle: "bundle", Accept: "accept",
	Cancel: "cancel", Complete: "complete", LeaveEmpty: "leave-empty", Jump: "jump",
	Logs: "logs", FollowLog: "follow", NextMatch: "next-match", PrevMatch: "previous-match", NextError: "next-error", PrevError: "previous-error",
	AllLines: "all-lines", WrapLines: "wrap", LogTimes: "times", LocalTimes: "local-times", RawLines: "raw", SaveLog: "save", PageLog: "pager",
	Column: "column", Wide: "wide", SaveView: "save", OpenView: "view", ForgetView: "forget", Time: "time", Theme: "theme", Reload: "reload", Mouse: "mouse", Pin: "pin", Group: "group",
}

// Name is what a configuration calls the binding; unique in its place.
func (b *Binding) Name() string {
	switch b.Intent.Action {
	case Act:
		return b.Intent.Text
	case CopyOf:
		return "copy-" + b.Intent.Text
	case Screen:
		return "screen-" + b.Command
	}
	return names[b.Intent.Action]
}

// First is the first key of an intent in a context; empty: it has none.
func (m *Map) First(c Context, in Intent) string {
	if m == nil {
		return ""
	}
	for _, b := range m.of[c] {
		if b.Intent == in && len(b.Keys()) > 0 {
			return short(b.Keys()[0])
		}
	}
	return ""
}

// Twice reports whether a second press of the key confirms.
func (b *Binding) Twice() bool {
	return b.Intent.Action == Act && slices.ContainsFunc(VerbKeys(), func(v VerbKey) bool { return v.Twice && v.Verb == b.Intent.Text })
}

// Place is what a configuration calls the context.
func (c Context) Place() string {
	switch c {
	case List:
		return "table"
	case Details:
		return "details"
	case FilterLine:
		return "filter"
	case CommandMenu:
		return "palette"
	case Form:
		return "dialog"
	case SilenceTable:
		return "silences"
	case Plan:
		return "plan"
	case RunProgress:
		return "progress"
	case VerbMenu:
		return "actions"
	case LogLines:
		return "logs"
	case Everywhere, contextCount:
	}
	return "everywhere"
}

// Contexts are all there are, in the order of the help.
func Contexts() []Context {
	return []Context{Everywhere, List, Details, LogLines, VerbMenu, Plan, RunProgress, SilenceTable, Form, FilterLine, CommandMenu}
}

// Typing reports whether keys are text in the context, and those of Everywhere do not work.
func (c Context) Typing() bool { return c.typing() }

// Rebind gives bindings other keys, by place and name. What is not named keeps its own.
func Rebind(bindings []Binding, by map[string]map[string][]string) []Binding {
	out := slices.Clone(bindings)
	for i := range out {
		b := &out[i]
		if keys, set := by[b.Context.Place()][b.Name()]; set {
			desc, hint := b.Help().Desc, b.Hint.Help().Desc
			b.Binding = key.NewBinding(key.WithKeys(keys...), key.WithHelp(strings.Join(keys, " "), desc))
			b.Hint = key.NewBinding()
			if len(keys) == 0 {
				b.Binding.SetHelp(":"+b.Command, desc)
				continue
			}
			b.Hint = key.NewBinding(key.WithKeys(keys...), key.WithHelp(short(keys[0]), hint))
		}
	}
	return out
}

// short is how the footer writes a key.
func short(name string) string { return strings.ReplaceAll(name, "pgdown", "pgdn") }

// named are the keys that have a name instead of a character.
var named = []string{"enter", "tab", "esc", "space", "backspace", "delete", "insert", "up", "down", "left", "right", "home", "end", "pgup", "pgdown"}

// inReplies are the characters of which answers of terminals consist. When one arrives in pieces, they look like keys.
const inReplies = "abcdefgirtvyGPRX0123456789;:?$[]()<>|/\\=_,-+%~!\"'"

// BadKey says why a text is not a key for what is done in a place; empty: it is one. twice: the key is pressed twice to confirm.
func BadKey(text string, typing, twice bool) string {
	base, mods := text, 0
	for _, m := range []string{"ctrl+", "alt+", "shift+"} {
		if rest, ok := strings.CutPrefix(base, m); ok && rest != "" {
			base, mods = rest, mods+1
		}
	}
	r, n := utf8.DecodeRuneInString(base)
	single := n == len(base) && n > 0
	switch {
	case text == "":
		return "a key is missing"
	case !single && !slices.Contains(named, base) && !isFunctionKey(base):
		return fmt.Sprintf("%q is not a key: write a character, or one of %s, f1 to f12, with ctrl+, alt+ or shift+ before it, in this order", text, strings.Join(named, " "))
	case single && (!unicode.IsPrint(r) || r == ' '):
		return fmt.Sprintf("%q is not a key: write its name, such as space", text)
	case single && strings.Contains(text, "shift+"):
		return fmt.Sprintf("%q: write %q", text, strings.ToUpper(base))
	case single && mods > 0 && unicode.IsUpper(r):
		return fmt.Sprintf("%q: write %q", text, strings.ToLower(text))
	case single && mods == 0 && typing || typing && text == "space":
		return fmt.Sprintf("%q is text in this place: choose a key that types nothing", text)
	case single && mods == 0 && twice && strings.ContainsRune(inReplies, r):
		return fmt.Sprintf("%q is pressed twice to confirm, and answers of terminals contain it: choose another key", text)
	}
	return ""
}

func isFunctionKey(s string) bool {
	var n int
	_, err := fmt.Sscanf(s, "f%d", &n)
	return err == nil && n >= 1 && n <= 12 && s == fmt.Sprintf("f%d", n)
}
