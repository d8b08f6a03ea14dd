package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sandglass/backend"
)

// RuleKind is a rule whose thresholds can be configured under [rules.NAME].
type RuleKind struct {
	Name    string
	Summary string
	// Defaults returns a pointer to the rule's option struct with its defaults.
	Defaults func() any
}

// Catalog is what a file may name: the kinds of sources, what can be done to them, and the rules of this program.
type Catalog struct {
	Kinds []backend.SourceKind
	Rules []RuleKind
	// Actions are what can be done to the sources of each kind; a kind that is not listed can only be read.
	Actions  []ActionKind
	Operator OperatorKind
	// KeyPlaces are the console's keys, those that work everywhere first. BadKey says why a text is not a key; empty: it is one.
	KeyPlaces []KeyPlace
	BadKey    func(text string, typing, twice bool) string
	// CheckView says which key of a view is wrong, and why; both empty: it is a view. nil: views are not checked.
	CheckView func(View) (key, why string)
	// Themes are the names of the console's themes; nil: they are not checked.
	Themes []string
}

// Config is a checked configuration.
type Config struct {
	// File is where it was read from, empty for Local.
	File string
	// Path is that file on disk, empty for a text that no file held.
	Path string
	// Local says that there is no configuration file. Sandglass reads what this machine has; what it lacks is not a failure.
	Local            bool
	Environment      string
	Production       bool
	StateDir         string // as configured; empty: the default, see StateDirectory
	LongestOperation time.Duration
	LongestOrder     time.Duration
	Reopen           bool     // the console begins where it was left
	LocalTime        bool     // the console's times
	Bell             string   // off, or the severity from which a new alert rings: warning, critical
	DocsURL          string   // of the framework's documentation, to which the runbook's references lead
	References       []string // other addresses of single references, each a title and an address
	UI               Console
	Sources          []Source // in the order of the file
	Declarations     []Declaration
	Actions          []Action // in the order of the file
	// Keys are other keys of the console, by place and intent.
	Keys  map[string]map[string][]string
	Views []View // in the order of the file

	// Digest changes whenever the file does; empty without a file.
	Digest string

	rules map[string]*options
	parts []part
}

// Source is one [[source]] of the file.
type Source struct {
	ID       string
	Kind     string
	Interval time.Duration
	Deadline time.Duration
	About    []string // ids of the sources it speaks about; empty = all
	Optional bool     // no file names it: this machine may lack it
	Options  backend.Options
	// Actions are the verbs that may be done to it; empty: it is only read.
	Actions []string
	// ActionOptions are the keys that its actions read, of the same [[source]].
	ActionOptions backend.Options
}

// defaultDocs is the public documentation of Helix Agents.
const defaultDocs = "https://agents.open-source.onhelix.ai"

// cutLast cuts a text at its last blank.
func cutLast(text string) (before, after string, ok bool) {
	i := strings.LastIndexAny(text, " \t")
	if i < 0 {
		return "", text, false
	}
	return strings.TrimSpace(text[:i]), text[i+1:], true
}

// general are the keys at the top of the file.
type general struct {
	Environment      string           `toml:"environment" doc:"shown in the header, and the name of the state directory"`
	Production       bool             `toml:"production" doc:"marks the header, so that it is not mistaken for another"`
	StateDir         string           `toml:"state_dir" path:"file" doc:"what is kept between runs; empty: $XDG_STATE_HOME/sandglass/<environment>"`
	LongestOperation backend.Duration `toml:"longest_operation" doc:"an attempt younger than this without a success is busy, not failing"`
	LongestOrder     backend.Duration `toml:"longest_order" doc:"the longest time for which an alert can be acknowledged or silenced"`
	Bell             string           `toml:"bell" doc:"when the console rings the terminal's bell: critical (a new critical alert that is not acknowledged), warning (a new warning too), or off"`
	Reopen           bool             `toml:"reopen" doc:"the console begins where it was left: screen, filter, order and row"`
	Time             string           `toml:"time" doc:"the console's times: utc, or local; T changes it"`
	DocsURL          string           `toml:"docs_url" doc:"the framework's documentation, to which the references at the end of each runbook page lead"`
	References       []string         `toml:"references" doc:"other addresses of single references: the title of a reference, then an address, such as \"errors https://wiki.example/errors\""`
	UI               Console          `toml:"ui"`
}

// common are the keys of every [[source]].
type common struct {
	ID       string           `toml:"id" doc:"unique; a-z, 0-9, and - _ . inside"`
	Kind     string           `toml:"kind" doc:"what kind of source this is"`
	Interval backend.Duration `toml:"interval" doc:"how often it is polled, at least 100ms"`
	Deadline backend.Duration `toml:"deadline" doc:"limit of one request"`
	About    []string         `toml:"about" doc:"ids of the sources it speaks about; empty: all"`
	Actions  []string         `toml:"actions" doc:"what may be done to it, by verb; empty: it is only read"`
}

func generalDefaults() *general {
	return &general{Environment: "local", LongestOperation: backend.Duration(300 * time.Second), LongestOrder: backend.Duration(24 * time.Hour), Bell: "critical", Reopen: true, Time: "utc", DocsURL: defaultDocs, UI: consoleDefaults()}
}

func commonDefaults() *common {
	return &common{Interval: backend.Duration(5 * time.Second), Deadline: backend.Duration(10 * time.Second)}
}

// MaxFileBytes bounds a configuration file.
const MaxFileBytes = 4 << 20

// minInterval keeps a typing error ("5ms") from overloading a production server.
const minInterval = 100 * time.Millisecond

// Parse reads a configuration. Every error begins with name. The error is of type Errors and lists everything that is
// wrong. Parse checks the options of sources against their kinds' structs. Some errors show only when the adapter builds
// the source.
func Parse(data []byte, name string, known Catalog) (*Config, error) {
	f := &file{name: name, data: bytes.TrimPrefix(slices.Clone(data), []byte("\ufeff"))}
	if len(data) > MaxFileBytes {
		return nil, Errors{{File: name, What: fmt.Sprintf("the file has %d bytes; a configuration has at most %d", len(data), MaxFileBytes)}}
	}
	if at := invalidUTF8(f.data); at >= 0 {
		return nil, Errors{f.errorf(at, "this is not UTF-8 text")}
	}
	root, errs := parseTree(f)
	if slices.ContainsFunc(errs, func(e *Error) bool { return e.syntax }) {
		return nil, errs.orNil() // what follows a syntax error is not what was meant
	}
	p := &parser{file: f, known: known, errs: errs, config: &Config{File: name, Digest: digest(f.data), rules: make(map[string]*options)}}
	p.config.parts = partsOf(root)
	p.general(root)
	p.actions(root) // sources name them
	p.sources(root)
	p.declarations(root)
	p.rules(root)
	p.keys(root)
	p.views(root)
	if err := p.errs.orNil(); err != nil {
		return nil, err
	}
	return p.config, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// Rule returns the options under [rules.NAME]; without such a table, options that set nothing.
func (c *Config) Rule(name string) backend.Options {
	if o := c.rules[name]; o != nil {
		return o
	}
	return empty(c.File, "[rules."+name+"]")
}

// Source returns the configured source of that id, nil when there is none.
func (c *Config) Source(id string) *Source {
	for i := range c.Sources {
		if c.Sources[i].ID == id {
			return &c.Sources[i]
		}
	}
	return nil
}

// Local is the configuration of a machine without a configuration file: its Docker engine and its scratch directories.
func Local() *Config {
	d := commonDefaults()
	c := &Config{Local: true, Environment: generalDefaults().Environment,
		LongestOperation: generalDefaults().LongestOperation.Std(),
		LongestOrder:     generalDefaults().LongestOrder.Std(), Bell: generalDefaults().Bell, Reopen: true, DocsURL: defaultDocs, UI: consoleDefaults()}
	for _, kind := range []string{"docker", "tmpdir"} {
		id := kind + "-local"
		c.Sources = append(c.Sources, Source{ID: id, Kind: kind, Optional: true, Interval: d.Interval.Std(), Deadline: d.Deadline.Std(),
			Options: empty("", fmt.Sprintf("[[source]] %q", id)), ActionOptions: empty("", fmt.Sprintf("[[source]] %q", id))})
	}
	return c
}

func empty(name, where string) *options {
	if name == "" {
		name = "without a configuration file"
	}
	return &options{file: &file{name: name}, block: &node{shape: shapeTable}, where: where}
}

// parser walks the tree and collects what is wrong.
type parser struct {
	file   *file
	known  Catalog
	errs   Errors
	config *Config
}

func (p *parser) errorf(at int, format string, args ...any) {
	p.errs = append(p.errs, p.file.errorf(at, format, args...))
}

// decode fills into from a table; what is wrong is collected, and reported as not ok.
func (p *parser) decode(o *options, into any) bool {
	return p.collect(o.Decode(into))
}

func (p *parser) collect(err error) bool {
	if err == nil {
		return true
	}
	if es, ok := err.(Errors); ok {
		p.errs = append(p.errs, es...)
	} else {
		p.errorf(0, "%v", err)
	}
	return false
}

func (p *parser) general(root *node) {
	g := generalDefaults()
	tables := []string{"source", "action", "declare", "rules", "keys", "view"}
	for _, short := range shortBlocks() {
		tables = append(tables, short.kind)
	}
	o := &options{file: p.file, block: root, where: "the file", taken: tables}
	if !p.decode(o, g) {
		return
	}
	if why := badName(g.Environment); why != "" {
		p.collect(o.Refuse("environment", "%s", why))
	}
	if g.LongestOperation <= 0 {
		p.collect(o.Refuse("longest_operation", "must be longer than 0s"))
	}
	if g.LongestOrder <= 0 {
		p.collect(o.Refuse("longest_order", "must be longer than 0s"))
	}
	if !slices.Contains([]string{"off", "warning", "critical"}, g.Bell) {
		p.collect(o.Refuse("bell", "%q is not a time to ring; write critical, warning or off", g.Bell))
	}
	if g.Time != "utc" && g.Time != "local" {
		p.collect(o.Refuse("time", "%q is not a time; write utc or local", g.Time))
	}
	p.checkConsole(o, g.UI)
	p.config.LocalTime, p.config.UI = g.Time == "local", g.UI
	p.config.Bell, p.config.Reopen = g.Bell, g.Reopen
	p.config.DocsURL, p.config.References = g.DocsURL, g.References
	for i, text := range append([]string{"documentation " + g.DocsURL}, g.References...) {
		title, address, ok := cutLast(strings.TrimSpace(text))
		if u, err := url.Parse(address); ok && title != "" && err == nil && u.Scheme != "" && u.Host != "" {
			continue
		}
		if i == 0 {
			p.collect(o.Refuse("docs_url", "%q is not an address such as %s", g.DocsURL, defaultDocs))
			continue
		}
		p.collect(o.Refuse("references", "%q is not a title and address, such as \"errors https://wiki.example/errors\"", text))
	}
	p.config.Environment, p.config.Production, p.config.StateDir = g.Environment, g.Production, g.StateDir
	p.config.LongestOperation, p.config.LongestOrder = g.LongestOperation.Std(), g.LongestOrder.Std()
}

// badName says what is wrong with an id or environment name, which become labels and directory names; empty: nothing.
func badName(s string) string {
	switch {
	case s == "":
		return "must not be empty"
	case len(s) > 64:
		return fmt.Sprintf("has %d characters; at most 64 are allowed", len(s))
	case strings.ContainsRune("-_.", rune(s[0])):
		return fmt.Sprintf("%q must begin with a letter or a digit", s)
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r) {
			return fmt.Sprintf("%q holds %q; only a-z, 0-9, and - _ . inside are allowed", s, r)
		}
	}
	return ""
}

func (p *parser) rules(root *node) {
	rules := root.child("rules")
	if rules == nil {
		return
	}
	if rules.shape != shapeTable {
		p.errorf(rules.value, "\"rules\" must be a table, not %s; write [rules.NAME]", rules.shape)
		return
	}
	defaults := make(map[string]func() any)
	for _, k := range p.known.Rules {
		defaults[k.Name] = k.Defaults
	}
	for _, r := range rules.kids {
		o := &options{file: p.file, block: r, where: "[rules." + r.key + "]"}
		switch make, ok := defaults[r.key]; {
		case !ok:
			p.errorf(r.at, "unknown rule %q%s", r.key, suggest(r.key, slices.Collect(maps.Keys(defaults))))
		case r.shape != shapeTable:
			p.errorf(r.value, "%q must be a table, not %s; write [rules.%s]", r.key, r.shape, r.key)
		default:
			p.collect(o.check(make()))
			p.config.rules[r.key] = o
		}
	}
}
