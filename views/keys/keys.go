// Package keys is the table of keys: key → binding → intent, per context. Dispatch, help, footer, palette and
// docs/keys.md all read it. Screens handle intents and never see a key.
package keys

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Action is what a key asks for.
type Action uint8

// The actions.
const (
	None Action = iota
	Quit
	Help
	Palette
	Back  // leave the overlay, clear the filter, go up
	Enter // open what the cursor is on
	Screen
	Up
	Down
	PageUp
	PageDown
	Top
	Bottom
	Filter
	Sort        // sort by the next column
	SortReverse // turn the order round
	NextLink    // the next thing that details lead to
	PrevLink
	Mark // mark or unmark the row
	Copy // copy the ids of the marked rows, else of the row under the cursor
	Redraw
	Suspend
	SetFilter // Text holds the filter; sent by the filter line, bound to no key
	Focus     // Text holds a raw id to put the cursor on; bound to no key
	Runbook   // the runbook's page about the row under the cursor, or about what is shown
	NextPage  // the runbook's next page, for the same subject
	PrevPage
	Acknowledge   // take the alert under the cursor, or the one that is shown
	Unacknowledge // give it back
	Silence       // mute it, and what is like it
	SilenceList
	Differs
	Expire // end the silence under the cursor
	Act    // Text is the verb: plan it for the marked rows, else for the row under the cursor
	Verbs  // list what can be done to the row under the cursor
	Doctor // try the read routes of the source of the row under the cursor
	Arm    // let this console act for a while; Text may hold how long and why
	Disarm
	ShowRun // the plan that is being carried out, or was last
	NextWave
	Bundle   // write the evidence about the row under the cursor into a file
	Accept   // end a text entry and keep it
	Cancel   // end a text entry and drop it
	Complete // go on as the first suggestion says
	// LeaveEmpty is Cancel where nothing is typed. Otherwise its key is text.
	LeaveEmpty
	CopyOf // Text says what: name, error, json, yaml, ids
	Jump   // find a screen, command or subject by a part of its names
	// Requests are what this process sent last; Text is a filter.
	Requests
	// Column shows the column that Text names, or takes it away; Wide gives the table the whole screen, or takes that back.
	Column
	Wide
	SaveView // Text names the view that is made of what is shown
	OpenView
	ForgetView
	Logs // the logs of what is here
	// In a log view:
	FollowLog
	NextMatch
	PrevMatch
	NextError
	PrevError
	AllLines // show also lines that the filter does not choose
	WrapLines
	LogTimes
	LocalTimes
	RawLines // JSON as it is written
	SaveLog
	PageLog // open in $PAGER
	Time    // show times in local time or in UTC
	Theme   // Text names the colours
	Reload  // read the configuration again
	Group   // Text says what the rows are grouped by
	Pin     // keep a subject on top of its screen, or let it go; Text is empty, off or gone
	Mouse   // let the mouse point, or give it back to the terminal
)

// Intent is an action with its argument.
type Intent struct {
	Action Action
	N      int    // the screen's number
	Text   string // the text of SetFilter and Focus
}

// Context is where a key is pressed.
type Context uint8

// The contexts. Keys of Everywhere work in all but text entries.
const (
	Everywhere   Context = iota
	List                 // a table
	Details              // everything about one thing; help
	FilterLine           // the filter while it is typed
	CommandMenu          // the palette
	Form                 // a dialog with fields
	SilenceTable         // the list of silences
	Plan                 // the dialog of a plan: what is typed confirms it
	RunProgress          // the progress of a plan
	VerbMenu             // the list of what can be done
	LogLines             // a log view
	contextCount
)

// Binding is one line of the table. Its keys and its line in the help are those of key.Binding.
type Binding struct {
	key.Binding
	Context Context
	Intent  Intent
	Hint    key.Binding // the word in the footer; its help is empty where the key is not in the footer
	Command string      // the name in the palette; empty: not there
	Takes   bool        // a word behind the name in the palette becomes the Text of the Intent
}

// bind makes a Binding. hint is the word in the footer, command the name in the palette; empty: not there.
func bind(c Context, names []string, in Intent, hint, help, command string) Binding {
	return Binding{Context: c, Intent: in, Command: command,
		Binding: key.NewBinding(key.WithKeys(names...), key.WithHelp(strings.Join(names, " "), help)),
		Hint:    key.NewBinding(key.WithKeys(names...), key.WithHelp(short(names[0]), hint))}
}

// ScreenName is a number key and the screen it opens.
type ScreenName struct {
	N    int
	Name string
}

// command makes a Binding that only the palette has.
func command(name string, in Intent, help string) Binding {
	return Binding{Context: List, Intent: in, Command: name, Binding: key.NewBinding(key.WithHelp(":"+name, help))}
}

// taking makes a Binding that only the palette has, with a word behind its name.
func taking(name string, in Intent, help string) Binding {
	b := command(name, in, help)
	b.Takes = true
	return b
}

// Bindings is the whole table for a program with these screens.
func Bindings(screens []ScreenName) []Binding {
	var b []Binding
	for _, e := range ofContexts {
		b = append(b, e.binding())
	}
	for _, v := range VerbKeys() {
		help := v.Help + "; the plan is shown first"
		b = append(b, bind(List, []string{v.Key}, Intent{Action: Act, Text: v.Verb}, "", help, v.Verb),
			bind(Details, []string{v.Key}, Intent{Action: Act, Text: v.Verb}, "", help, ""))
	}
	for _, v := range [][2]string{{"start", "start a sandbox that has ended"}, {"restart", "stop a sandbox and start it again"}} {
		b = append(b, command(v[0], Intent{Action: Act, Text: v[0]}, v[1]+"; the plan is shown first"))
	}
	b = append(b, command("prove", Intent{Action: Act, Text: "prove"}, "try the platform of this sandbox or source; the plan is shown first"),
		command("copy-name", Intent{Action: CopyOf, Text: "name"}, "copy the name (OSC 52)"),
		command("copy-error", Intent{Action: CopyOf, Text: "error"}, "copy what is wrong, in the words of what reported it"),
		command("copy-json", Intent{Action: CopyOf, Text: "json"}, "copy the reading as JSON"),
		command("copy-yaml", Intent{Action: CopyOf, Text: "yaml"}, "copy the reading as YAML"),
		command("copy-ids", Intent{Action: CopyOf, Text: "ids"}, "copy the ids of all subjects of an alert, or of the marked rows"),
		taking("column", Intent{Action: Column}, "show a column, or hide it: :column NAME"),
		taking("group", Intent{Action: Group}, "group rows: :group compose, :group label NAME, :group COLUMN, :group off"),
		taking("save", Intent{Action: SaveView}, "keep filter, order, columns and screen as a view: :save NAME"),
		taking("view", Intent{Action: OpenView}, "open a view of the configuration, or a saved one: :view NAME"),
		taking("forget", Intent{Action: ForgetView}, "forget a saved view: :forget NAME"),
		taking("theme", Intent{Action: Theme}, "colours: :theme default, high-contrast, colour-blind or none"),
		command("reload", Intent{Action: Reload}, "read the configuration again: [ui], [keys], [[view]], [rules], time, bell"),
		command("doctor", Intent{Action: Doctor}, "try every read route of this row's source"))
	for _, s := range screens {
		b = append(b, bind(Everywhere, []string{fmt.Sprint(s.N)}, Intent{Action: Screen, N: s.N}, "",
			"screen "+s.Name, strings.ToLower(s.Name)))
	}
	for _, e := range ofEveryContext {
		b = append(b, e.binding())
	}
	return b
}

// VerbKey is a key for one verb.
type VerbKey struct {
	Key, Verb, Help string
	Twice           bool // a second press confirms
}

// VerbKeys are the keys of the verbs that Sandglass brings. Verbs that are confirmed by pressing their key twice (probe,
// pause, resume, shell) have letters that no reply of a terminal contains.
func VerbKeys() []VerbKey {
	return []VerbKey{
		{"r", "reset", "reset a failed workspace", false},
		{"p", "probe", "prove that commands run in a sandbox", true},
		{"D", "destroy", "destroy a sandbox", false},
		{"t", "stop", "stop a sandbox", false},
		{"z", "pause", "pause a sandbox", true},
		{"u", "resume", "resume a paused sandbox", true},
		{"S", "shell", "open a shell in a sandbox on this terminal", true},
		{"w", "repair", "make the missing working directory of a sandbox again", false},
		{"C", "clean", "quarantine an abandoned scratch directory", false},
	}
}

// OfVerb is the key of a verb in a context; empty: it has none of its own there. A nil Map is the table as it is without a configuration.
func (m *Map) OfVerb(c Context, verb string) string {
	if m == nil {
		for _, v := range VerbKeys() {
			if v.Verb == verb {
				return v.Key
			}
		}
		return ""
	}
	for _, b := range m.of[c] {
		if b.Intent.Action == Act && b.Intent.Text == verb && len(b.Keys()) > 0 {
			return b.Keys()[0]
		}
	}
	return ""
}

// Map looks keys up. It is immutable.
type Map struct {
	all   []Binding
	byKey [contextCount]map[string]int
	of    [contextCount][]Binding
}

// NewMap indexes a table. A key bound twice in one context is a programming error and panics.
func NewMap(bindings []Binding) *Map {
	m := &Map{all: bindings}
	for i := range m.byKey {
		m.byKey[i] = make(map[string]int)
	}
	for i, b := range bindings {
		for _, k := range b.Keys() {
			if _, twice := m.byKey[b.Context][k]; twice {
				panic("key bound twice: " + k)
			}
			m.byKey[b.Context][k] = i
		}
		m.of[b.Context] = append(m.of[b.Context], b)
	}
	for c := Everywhere + 1; c < contextCount; c++ {
		if !c.typing() {
			m.of[c] = append(m.of[c], m.of[Everywhere]...)
		}
	}
	return m
}

// typing reports whether keys are text in the context.
func (c Context) typing() bool { return c == FilterLine || c == CommandMenu || c == Form || c == Plan }

// Lookup returns what a key asks for in a context.
func (m *Map) Lookup(c Context, key string) (Intent, bool) {
	if i, ok := m.byKey[c][key]; ok {
		return m.all[i].Intent, true
	}
	if c.typing() {
		return Intent{}, false
	}
	i, ok := m.byKey[Everywhere][key]
	if !ok {
		return Intent{}, false
	}
	return m.all[i].Intent, true
}

// Of returns the bindings that work in a context, its own first.
func (m *Map) Of(c Context) []Binding { return m.of[c] }

// CommandsIn returns the bindings that the palette offers in a context: a log view has commands of its own in the place of those about rows, and
// where no table is in sight, none is about it.
func (m *Map) CommandsIn(c Context) []Binding {
	var cs []Binding
	for _, b := range m.all {
		if b.Command != "" && (b.Context == Everywhere || (b.Context == LogLines) == (c == LogLines)) && (c == List || !b.ofTable()) {
			cs = append(cs, b)
		}
	}
	return cs
}

// ofTable reports whether the command changes how a table is shown.
func (b *Binding) ofTable() bool {
	a := b.Intent.Action
	return a == Mark || a == Sort || a == SortReverse || a == Column || a == Wide || a == Group || a == SaveView
}

// Name is how a context is called in help and docs.
func (c Context) Name() string {
	switch c {
	case List:
		return "In a table"
	case Details:
		return "In details and help"
	case FilterLine:
		return "In the filter line"
	case CommandMenu:
		return "In the palette"
	case Form:
		return "In a dialog"
	case SilenceTable:
		return "In the list of silences"
	case Plan:
		return "In the dialog of a plan"
	case RunProgress:
		return "While a plan is carried out"
	case VerbMenu:
		return "In the list of what can be done"
	case LogLines:
		return "In logs"
	case Everywhere, contextCount:
	}
	return "Everywhere"
}
