package operator

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// Call is what is done to one target: a request or a command.
type Call struct {
	URL      string            `toml:"url" doc:"request: where it goes; {session} {workspace} {sandbox} {name} {id} {provider} {ref} {source} are escaped into path and query"`
	Method   string            `toml:"method" doc:"request: POST, PUT, PATCH or DELETE"`
	Headers  map[string]string `toml:"headers" doc:"request: plain headers, placeholders allowed; the credential belongs into the table act"`
	Body     string            `toml:"body" doc:"request: a JSON document; placeholders belong inside its strings"`
	Command  []string          `toml:"command" path:"program" doc:"argv to run instead of a request; placeholders fill single arguments, and no shell is involved"`
	Pass     []string          `toml:"pass" doc:"command: environment variables that it gets besides PATH, HOME, USER, LANG, TZ and TMPDIR"`
	Deadline backend.Duration  `toml:"deadline" doc:"limit of one request or command; what takes longer is unknown, and is read instead of repeated"`
}

func callDefaults() Call {
	return Call{Method: http.MethodPost, Deadline: backend.Duration(30 * time.Second)}
}

// longest bounds a deadline: an effect that takes longer is ended by the run.
const longest = 2 * time.Minute

// IsZero reports whether neither a request nor a command is configured.
func (c *Call) IsZero() bool { return c.URL == "" && len(c.Command) == 0 }

// targetNames are the placeholders that tell targets of a kind apart; plainNames say only where they belong.
func targetNames(of backend.Kind) []string {
	return map[backend.Kind][]string{
		backend.KindSession:   {"session", "name", "id"},
		backend.KindWorkspace: {"workspace", "name", "id", "sandbox", "session"}, // a session can have a single one without a name
		backend.KindSandbox:   {"sandbox", "name", "id"},
	}[of]
}

func knownNames(of backend.Kind) []string {
	names := append(targetNames(of), "source", "session", "provider")
	if of == backend.KindWorkspace {
		names = append(names, factRef)
	}
	if of == backend.KindSandbox {
		names = append(names, "workspace")
	}
	if of == backend.KindSession {
		names = slices.DeleteFunc(names, func(n string) bool { return n == "provider" })
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// check refuses what could not be carried out or could reach another place. at is put before the keys.
func (c *Call) check(opts backend.Options, at string, of backend.Kind, act wire.Credential) error {
	if c.Deadline.Std() <= 0 || c.Deadline.Std() > longest {
		return opts.Refuse(at+"deadline", "must be longer than 0s and at most %v", longest)
	}
	for _, part := range c.templates() {
		for _, name := range wire.Placeholders(part.text) {
			if !slices.Contains(knownNames(of), name) {
				return opts.Refuse(at+part.key, "{%s} is not known of a %s; known: {%s}", name, of, strings.Join(knownNames(of), "}, {"))
			}
		}
	}
	switch {
	case c.URL != "" && len(c.Command) > 0:
		return opts.Refuse(at+"command", "give a url or a command, not both")
	case !c.IsZero() && !slices.ContainsFunc(c.uses(), func(n string) bool { return slices.Contains(targetNames(of), n) }):
		return opts.Refuse(at+c.mainKey(), "says the same for every %s: put one of {%s} into it", of, strings.Join(targetNames(of), "}, {"))
	case c.URL != "":
		return c.checkRequest(opts, at)
	case len(c.Command) > 0:
		return c.checkCommand(opts, at, act)
	}
	return nil
}

func (c *Call) mainKey() string {
	if c.URL != "" {
		return "url"
	}
	return "command"
}

func (c *Call) checkRequest(opts backend.Options, at string) error {
	if err := wire.CheckURL(c.URL); err != nil {
		return opts.Refuse(at+"url", "%v", err)
	}
	if !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, c.Method) {
		return opts.Refuse(at+"method", "%q is not known here; write POST, PUT, PATCH or DELETE", c.Method)
	}
	for name, v := range c.Headers {
		if !wire.HeaderName(name) || !wire.HeaderText(v) {
			return opts.Refuse(at+"headers", "%q cannot be a header", name)
		}
	}
	if c.Body != "" {
		filled, err := wire.Fill(c.Body, func(string) (string, error) { return "x", nil }, jsonText)
		if err != nil || !json.Valid([]byte(filled)) {
			return opts.Refuse(at+"body", "is not a JSON document with its placeholders inside strings, like {\"session\": \"{session}\"}")
		}
	}
	return nil
}

func (c *Call) checkCommand(opts backend.Options, at string, act wire.Credential) error {
	switch {
	case c.Command[0] == "" || len(wire.Placeholders(c.Command[0])) > 0:
		return opts.Refuse(at+"command", "must begin with the program to run")
	case c.Body != "" || len(c.Headers) > 0:
		return opts.Refuse(at+"command", "has neither body nor headers; they belong to a url")
	case !act.IsZero():
		return opts.Refuse("act", "is for requests; a command gets the environment variables that pass names")
	}
	for _, name := range c.Pass {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return opts.Refuse(at+"pass", "%q cannot be the name of an environment variable", name)
		}
	}
	return nil
}

// namesWorkspace reports whether the call tells the workspaces of one session apart.
func (c *Call) namesWorkspace() bool {
	return slices.ContainsFunc(c.uses(), func(n string) bool {
		return n != "session" && slices.Contains(targetNames(backend.KindWorkspace), n)
	})
}

type template struct{ key, text string }

// templates are all texts that may hold placeholders.
func (c *Call) templates() []template {
	all := []template{{"url", c.URL}, {"body", c.Body}}
	for _, v := range c.Headers {
		all = append(all, template{"headers", v})
	}
	for _, a := range c.Command {
		all = append(all, template{"command", a})
	}
	return all
}

// uses lists the placeholders of the call, without doubles.
func (c *Call) uses() []string {
	var names []string
	for _, t := range c.templates() {
		names = append(names, wire.Placeholders(t.text)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Names of identity facts that placeholders are filled from.
const (
	factName      = "name"
	factSandbox   = "sandbox"
	factSession   = "session"
	factWorkspace = "workspace"
	factProvider  = "provider"
	factSuccess   = "last success"
	factRequest   = "request"
	factCommand   = "command"
	factRef       = "ref" // the sandbox that the stored reference names
)

// values gives the placeholders of a target. Everything comes from what the plan was made of.
func values(k backend.Key, identity []actions.Fact) func(string) (string, error) {
	fact := func(name string) string {
		for _, f := range identity {
			if f.Name == name {
				return f.Value
			}
		}
		return ""
	}
	return func(name string) (string, error) {
		v := ""
		switch {
		case name == "source":
			v = k.Source
		case name == "id":
			v = k.Path().Raw()
		case name == "session" && k.Kind == backend.KindWorkspace:
			v = k.Parent.Raw()
		case name == string(k.Kind), name == "name" && k.Kind != backend.KindSandbox:
			v = k.ID.Raw()
		default:
			v = fact(name)
		}
		if v == "" {
			return "", fmt.Errorf("its %s is not known", name)
		}
		return v, nil
	}
}

// order fills the request in.
func (c *Call) order(value func(string) (string, error)) (wire.Order, error) {
	o := wire.Order{Method: c.Method}
	var err error
	if o.URL, err = wire.FillURL(c.URL, value); err != nil {
		return o, err
	}
	if o.Header, err = wire.FillHeaders(c.Headers, value); err != nil {
		return o, err
	}
	if c.Body != "" {
		body, err := wire.Fill(c.Body, value, jsonText)
		if err != nil {
			return o, err
		}
		o.Body = []byte(body)
		if o.Header.Get("Content-Type") == "" {
			o.Header.Set("Content-Type", "application/json")
		}
	}
	return o, nil
}

// jsonText escapes a value for the inside of a JSON string.
func jsonText(s string) string {
	q := backend.QuoteJSON(s)
	return q[1 : len(q)-1]
}

// sent is what goes out for one target: the name and value of a fact for its identity, with a sum of all of it, and the words
// that a plan shows. The credential is no part of it, and secrets are masked.
type sent struct{ name, value, shown string }

func (c *Call) sends(value func(string) (string, error), credential wire.Credential) (sent, error) {
	var s sent
	var all []string
	if c.URL == "" {
		argv, err := c.argv(value)
		if err != nil {
			return s, err
		}
		s.name, s.shown, all = factCommand, backend.ShellLine(argv), append(append(argv, ""), c.Pass...)
		if len(c.Pass) > 0 {
			s.shown += ", with " + strings.Join(c.Pass, " ")
		}
	} else {
		o, err := c.order(value)
		if err != nil {
			return s, err
		}
		s.name, s.shown, all = factRequest, requestLine(&o, len(c.Headers) > 0, credential), []string{o.Method, o.URL, string(o.Body), credential.Place()}
		for _, name := range slices.Sorted(maps.Keys(o.Header)) {
			all = append(append(all, name), o.Header[name]...)
		}
	}
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", all)))
	s.shown = backend.Clean(s.shown, longestShown).String()
	s.value = fmt.Sprintf("%s%s%x", s.shown, actions.SumMark, sum[:6])
	return s, nil
}

// longestShown bounds what is shown of a request or command; the sum covers all of it.
const longestShown = 400

// requestLine is a request as plans show it: method and address, the names of its headers, and its body.
func requestLine(o *wire.Order, headers bool, credential wire.Credential) string {
	line := o.Method + " " + backend.MaskURL(o.URL)
	if headers {
		line += ", headers " + strings.Join(slices.Sorted(maps.Keys(o.Header)), " ")
	}
	if name := credential.HeaderName(); name != "" {
		line += ", a credential in " + name
	}
	if len(o.Body) > 0 {
		line += ", body " + backend.NewCleaner().Mask(string(o.Body))
	}
	return line
}

// argv fills the command in. A value stays in its argument. One that a program would read as an option is refused,
// unless "--" precedes it, and one that a shell would read as more than a word where a shell reads it.
func (c *Call) argv(value func(string) (string, error)) ([]string, error) {
	out := make([]string, 0, len(c.Command))
	ended := false
	for i, a := range c.Command {
		var loose string
		filled, err := wire.Fill(a, value, func(s string) string {
			if !plainWord(s) {
				loose = s
			}
			return s
		})
		switch {
		case err != nil:
			return nil, err
		case strings.ContainsRune(filled, 0):
			return nil, fmt.Errorf("a value holds a zero byte and cannot be an argument")
		case i > 0 && !ended && strings.HasPrefix(filled, "-") && strings.HasPrefix(a, "{"):
			return nil, fmt.Errorf("a value begins with a dash, which %s would read as an option; put \"--\" before it in command", c.Command[0])
		}
		if loose != "" && codeReads(c.Command, i) {
			return nil, fmt.Errorf("%q would be read as code; let it be an argument of its own, as in [\"sh\", \"-c\", \"stop \\\"$1\\\"\", \"--\", \"{id}\"]", loose)
		}
		ended = ended || a == "--"
		out = append(out, filled)
	}
	return out, nil
}
