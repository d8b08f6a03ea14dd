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

// bindTaking makes a Binding that is not in the footer, and whose name in the palette takes a word behind it.
func bindTaking(c Context, names []string, in Intent, help, command string) Binding {
	b := bind(c, names, in, "", help, command)
	b.Takes = true
	return b
}

// Bindings is the whole table for a program with these screens.
func Bindings(screens []ScreenName) []Binding {
	b := []Binding{
		bind(List, []string{"enter"}, Intent{Action: Enter}, "details", "everything about the row under the cursor", ""),
		bind(List, []string{"R"}, Intent{Action: Runbook}, "runbook", "what the runbook says about it, with the diagnosis", "runbook"),
		bind(List, []string{"x"}, Intent{Action: Verbs}, "actions", "what can be done to the marked rows, else to this one", "act"),
		bind(List, []string{"a"}, Intent{Action: Acknowledge}, "ack", "acknowledge the alert: you work on it", "acknowledge"),
		bind(List, []string{"A"}, Intent{Action: Unacknowledge}, "", "end the acknowledgement", "unacknowledge"),
		bind(List, []string{"m"}, Intent{Action: Silence}, "silence", "silence this alert and similar ones", "silence"),
		bind(List, []string{"M"}, Intent{Action: SilenceList}, "", "the silences in force", "silences"),
		bind(List, []string{"d"}, Intent{Action: Differs}, "", "what differs from 30 minutes before: state, counts, rates, alerts, changes", "diff"),
		bind(List, []string{"space"}, Intent{Action: Mark}, "mark", "mark the row, or take the mark off", "mark"),
		bind(List, []string{"up", "k"}, Intent{Action: Up}, "", "one row up", ""),
		bind(List, []string{"down", "j"}, Intent{Action: Down}, "", "one row down", ""),
		bind(List, []string{"pgup", "ctrl+b"}, Intent{Action: PageUp}, "", "one page up", ""),
		bind(List, []string{"pgdown", "ctrl+f"}, Intent{Action: PageDown}, "", "one page down", ""),
		bind(List, []string{"g", "home"}, Intent{Action: Top}, "", "first row", "top"),
		bind(List, []string{"G", "end"}, Intent{Action: Bottom}, "", "last row", "bottom"),
		bind(List, []string{"/"}, Intent{Action: Filter}, "filter", "show only rows that match", "filter"),
		bind(List, []string{"s"}, Intent{Action: Sort}, "sort", "sort by the next column (:order COLUMN: by that one)", "sort by next column"),
		bind(List, []string{"I"}, Intent{Action: SortReverse}, "", "turn the order round", "reverse order"),
		bind(List, []string{"l"}, Intent{Action: Logs}, "logs", "follow the logs of this row's subject", "logs"),
		bindTaking(List, []string{"P"}, Intent{Action: Pin}, "pin: the row stays on top with what is seen of it, until P again (:pin off: all)", "pin"),
		bind(List, []string{"W"}, Intent{Action: Wide}, "", "wide: the table alone, with every column there is room for", "wide"),
		bind(List, []string{"E"}, Intent{Action: Bundle}, "", "write all evidence about this row into one Markdown file", "bundle of evidence"),
		bind(List, []string{"y"}, Intent{Action: Copy}, "", "copy the ids of the marked rows, else of this row (OSC 52)", "copy id"),
		bind(List, []string{"esc", "backspace"}, Intent{Action: Back}, "", "clear the filter, then the marks", ""),
		bind(Details, []string{"up", "k"}, Intent{Action: Up}, "", "one line up", ""),
		bind(Details, []string{"down", "j"}, Intent{Action: Down}, "", "one line down", ""),
		bind(Details, []string{"pgup", "ctrl+b"}, Intent{Action: PageUp}, "", "one page up", ""),
		bind(Details, []string{"pgdown", "ctrl+f", "space"}, Intent{Action: PageDown}, "", "one page down", ""),
		bind(Details, []string{"g", "home"}, Intent{Action: Top}, "", "beginning", ""),
		bind(Details, []string{"G", "end"}, Intent{Action: Bottom}, "", "end", ""),
		bind(Details, []string{"R"}, Intent{Action: Runbook}, "runbook", "what the runbook says about it, with the diagnosis", ""),
		bind(Details, []string{"x"}, Intent{Action: Verbs}, "actions", "what can be done to it", ""),
		bind(Details, []string{"]"}, Intent{Action: NextPage}, "next page", "in the runbook: its next page, about the same subject", ""),
		bind(Details, []string{"["}, Intent{Action: PrevPage}, "", "in the runbook: the page before", ""),
		bind(Details, []string{"tab"}, Intent{Action: NextLink}, "next", "next link", ""),
		bind(Details, []string{"shift+tab"}, Intent{Action: PrevLink}, "", "the one before", ""),
		bind(Details, []string{"enter", "right"}, Intent{Action: Enter}, "open", "open it", ""),
		bind(Details, []string{"a"}, Intent{Action: Acknowledge}, "ack", "acknowledge the alert: you work on it", ""),
		bind(Details, []string{"A"}, Intent{Action: Unacknowledge}, "", "end the acknowledgement", ""),
		bind(Details, []string{"m"}, Intent{Action: Silence}, "silence", "silence this alert and similar ones", ""),
		bind(Details, []string{"l"}, Intent{Action: Logs}, "logs", "follow its logs", ""),
		bind(Details, []string{"M"}, Intent{Action: SilenceList}, "", "the silences in force", ""),
		bind(Details, []string{"d"}, Intent{Action: Differs}, "", "what of this differs from 30 minutes before", ""),
		bind(Details, []string{"P"}, Intent{Action: Pin}, "", "pin it to the top of its screen, or take the pin off", ""),
		bind(Details, []string{"E"}, Intent{Action: Bundle}, "", "write all evidence about it into one Markdown file", ""),
		bind(Details, []string{"y"}, Intent{Action: Copy}, "", "copy the id (OSC 52)", ""),
		bind(Details, []string{"/"}, Intent{Action: Filter}, "filter", "in a log: show only lines that match", ""),
		bind(Details, []string{"esc", "left"}, Intent{Action: Back}, "back", "back to where it was opened", ""),
		bind(FilterLine, []string{"enter"}, Intent{Action: Accept}, "keep", "keep the filter and go back to the table", ""),
		bind(FilterLine, []string{"tab"}, Intent{Action: Complete}, "complete", "take the first of the fields or values that are offered", ""),
		bind(FilterLine, []string{"up"}, Intent{Action: Up}, "", "the filter that was kept before, on any screen", ""),
		bind(FilterLine, []string{"down"}, Intent{Action: Down}, "", "the filter that was kept after it", ""),
		bind(FilterLine, []string{"esc", "ctrl+c"}, Intent{Action: Cancel}, "drop", "drop the filter", ""),
		bind(FilterLine, []string{"backspace"}, Intent{Action: LeaveEmpty}, "", "when nothing is typed: leave", ""),
		bind(Form, []string{"enter"}, Intent{Action: Accept}, "next, then do it", "the next field; on the last one it is done, when none is empty", ""),
		bind(Form, []string{"tab", "down"}, Intent{Action: NextLink}, "next field", "the next field", ""),
		bind(Form, []string{"shift+tab", "up"}, Intent{Action: PrevLink}, "", "the field before", ""),
		bind(Form, []string{"esc", "ctrl+c"}, Intent{Action: Cancel}, "leave", "leave it; nothing is done", ""),
		bind(Form, []string{"backspace"}, Intent{Action: LeaveEmpty}, "", "when nothing is typed: leave", ""),
		bind(SilenceTable, []string{"up", "k"}, Intent{Action: Up}, "", "one up", ""),
		bind(SilenceTable, []string{"down", "j", "tab"}, Intent{Action: Down}, "next", "one down", ""),
		bind(SilenceTable, []string{"g", "home"}, Intent{Action: Top}, "", "the first", ""),
		bind(SilenceTable, []string{"G", "end"}, Intent{Action: Bottom}, "", "the last", ""),
		bind(SilenceTable, []string{"x"}, Intent{Action: Expire}, "end it", "end the silence under the cursor; asked for twice", ""),
		bind(SilenceTable, []string{"esc", "left"}, Intent{Action: Back}, "back", "back to the table", ""),
		bind(Plan, []string{"enter"}, Intent{Action: Accept}, "confirm", "with what was typed: go ahead; on an expired plan: make a new one", ""),
		bind(Plan, []string{"down"}, Intent{Action: Down}, "", "one line down", ""),
		bind(Plan, []string{"up"}, Intent{Action: Up}, "", "one line up", ""),
		bind(Plan, []string{"pgdown"}, Intent{Action: PageDown}, "more", "one page down", ""),
		bind(Plan, []string{"pgup"}, Intent{Action: PageUp}, "", "one page up", ""),
		bind(Plan, []string{"esc", "ctrl+c"}, Intent{Action: Cancel}, "leave", "leave it; nothing is done", ""),
		bind(Plan, []string{"backspace"}, Intent{Action: LeaveEmpty}, "", "when nothing is typed: leave", ""),
		bind(RunProgress, []string{"c"}, Intent{Action: NextWave}, "next batch", "start the next batch, when the plan waits for that", ""),
		bind(RunProgress, []string{"v"}, Intent{Action: ShowRun}, "hide", "hide it; the plan goes on", ""),
		bind(RunProgress, []string{"down", "j"}, Intent{Action: Down}, "", "one line down", ""),
		bind(RunProgress, []string{"up", "k"}, Intent{Action: Up}, "", "one line up", ""),
		bind(RunProgress, []string{"pgdown", "space"}, Intent{Action: PageDown}, "", "one page down", ""),
		bind(RunProgress, []string{"pgup"}, Intent{Action: PageUp}, "", "one page up", ""),
		bind(RunProgress, []string{"esc", "s"}, Intent{Action: Cancel}, "stop", "stop before the next target; leave, when it is over", ""),
		bind(VerbMenu, []string{"down", "j", "tab"}, Intent{Action: Down}, "next", "one down", ""),
		bind(VerbMenu, []string{"up", "k", "shift+tab"}, Intent{Action: Up}, "", "one up", ""),
		bind(VerbMenu, []string{"enter"}, Intent{Action: Accept}, "plan it", "plan it: nothing is done yet", ""),
		bind(VerbMenu, []string{"esc", "x", "left"}, Intent{Action: Back}, "leave", "leave the list", ""),
		bind(CommandMenu, []string{"enter"}, Intent{Action: Accept}, "do it", "do what is marked", ""),
		bind(CommandMenu, []string{"up", "ctrl+p"}, Intent{Action: Up}, "", "one line up", ""),
		bind(CommandMenu, []string{"down", "ctrl+n", "tab"}, Intent{Action: Down}, "", "one line down", ""),
		bind(CommandMenu, []string{"esc", "ctrl+c"}, Intent{Action: Cancel}, "leave", "leave the palette", ""),
		bind(CommandMenu, []string{"backspace"}, Intent{Action: LeaveEmpty}, "", "when nothing is typed: leave", ""),
	}
	b = append(b, logBindings()...)
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
	return append(b,
		bind(Everywhere, []string{"?", "f1"}, Intent{Action: Help}, "help", "this help", "help"),
		bind(Everywhere, []string{"f", "ctrl+p"}, Intent{Action: Jump}, "", "go to any screen, command or subject by a part of a name, id, path or process number", "go to"),
		bind(Everywhere, []string{":"}, Intent{Action: Palette}, "palette", "find a command by a part of its name", ""),
		bind(Everywhere, []string{"v"}, Intent{Action: ShowRun}, "", "the plan that is being carried out, or was last", "show the plan"),
		bind(Everywhere, []string{"o"}, Intent{Action: Requests}, "", "the requests and commands that were sent last (:requests WORDS filters)", "requests"),
		bindTaking(Everywhere, []string{"T"}, Intent{Action: Time}, "times in local time, or in UTC again (also :time utc, :time local)", "time"),
		bind(Everywhere, []string{"*"}, Intent{Action: Mouse}, "", "the mouse: a click chooses a row or a tab, the wheel scrolls; it never confirms", "mouse"),
		bind(Everywhere, []string{"ctrl+g"}, Intent{Action: Arm}, "", "arm: let this console act for a while (also :arm 15m REASON)", "arm"),
		bind(Everywhere, []string{"ctrl+x"}, Intent{Action: Disarm}, "", "disarm: from now on this console only looks", "disarm"),
		bind(Everywhere, []string{"ctrl+l"}, Intent{Action: Redraw}, "", "draw the whole screen again", "redraw"),
		bind(Everywhere, []string{"ctrl+z"}, Intent{Action: Suspend}, "", "go to the shell's background, where a shell started the console", "suspend"),
		bind(Everywhere, []string{"q", "ctrl+c"}, Intent{Action: Quit}, "quit", "quit", "quit"),
	)
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

// OfVerb is the key of a verb in a table; empty: it has none of its own. A nil Map is the table as it is without a configuration.
func (m *Map) OfVerb(verb string) string {
	if m == nil {
		for _, v := range VerbKeys() {
			if v.Verb == verb {
				return v.Key
			}
		}
		return ""
	}
	for _, b := range m.of[List] {
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

// Commands returns the bindings that the palette offers on the screens.
func (m *Map) Commands() []Binding { return m.CommandsIn(List) }

// CommandsIn returns those that it offers in a context: a log view has commands of its own in the place of those about rows.
func (m *Map) CommandsIn(c Context) []Binding {
	var cs []Binding
	for _, b := range m.all {
		if b.Command != "" && (b.Context == Everywhere || (b.Context == LogLines) == (c == LogLines)) {
			cs = append(cs, b)
		}
	}
	return cs
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
