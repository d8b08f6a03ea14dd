package helix

import (
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Options are the keys of a helix source.
type Options struct {
	URL             string            `toml:"url" doc:"health route of one session; {session} is escaped into its path or query"`
	Headers         map[string]string `toml:"headers" doc:"headers of every request; {session} is allowed and then sent to the health route only"`
	ListURL         string            `toml:"list_url" doc:"operators' list route: which sessions there are and which run (docs/helix-operator-routes.md)"`
	AggregateURL    string            `toml:"aggregate_url" doc:"operators' aggregate route: all sessions with their workspaces; replaces list_url, and url but for sessions that it suddenly no longer names"`
	Sessions        []string          `toml:"sessions" doc:"fixed list of session ids"`
	SessionsFile    string            `toml:"sessions_file" path:"file" doc:"file with one session id a line, or a JSON array of them"`
	SessionsCommand []string          `toml:"sessions_command" path:"program" doc:"argv that prints the same"`
	Runtime         string            `toml:"runtime" doc:"js, or durable-object: then only sessions that the list route calls running are asked, because asking keeps an object awake and billed"`
	ExpectActive    bool              `toml:"expect_active" doc:"false: it is normal that no session runs, so that only idle answers are no finding"`
	RequestsPerSec  float64           `toml:"requests_per_second" doc:"request budget; alerting and visible subjects come first, 429, 503 and doubled latency halve it"`
	IdleInterval    backend.Duration  `toml:"idle_interval" doc:"an idle session is asked at most this often"`
	MaxBody         backend.Size      `toml:"max_body" doc:"largest decoded answer"`
	States          map[string]string `toml:"states" doc:"state word -> healthy, opening, failed, evicted or closed; failed and evicted are known already"`
	RunningStatuses []string          `toml:"running_statuses" doc:"status words of the list route that mean: a run loop is active now"`
	IdleMatch       IdleMatch         `toml:"idle_match" doc:"what the body of a 404 says when the session is merely idle"`
	Pointers        Pointers          `toml:"pointers" doc:"JSON pointers into answers of another shape"`
	Read            wire.Credential   `toml:"read" doc:"the reading credential"`
}

// IdleMatch recognises the documented 404 of an idle session.
type IdleMatch struct {
	Pointer string `toml:"pointer" doc:"JSON pointer into the 404 body"`
	Equals  string `toml:"equals" doc:"text at that place when the session is idle"`
}

// Pointers lead to the parts of an answer. Sessions and Next start at the root of a page, the others at one session;
// Workspaces also at the root of a health answer.
type Pointers struct {
	Sessions   string `toml:"sessions" doc:"the array of sessions, from the root of a page"`
	SessionID  string `toml:"session_id" doc:"the id, from one session"`
	Status     string `toml:"status" doc:"the status word, from one session"`
	Workspaces string `toml:"workspaces" doc:"the registry snapshot, from one session or a health answer"`
	Next       string `toml:"next" doc:"the cursor of the next page, from the root of a page"`
}

func defaults() *Options {
	return &Options{
		Runtime: runtimeJS, ExpectActive: true, RequestsPerSec: 10,
		IdleInterval: backend.Duration(5 * time.Minute), MaxBody: wire.DefaultMaxBody,
		RunningStatuses: []string{"running", "active"},
		IdleMatch:       IdleMatch{Pointer: "/error", Equals: "no active session"},
		Pointers: Pointers{Sessions: "/sessions", SessionID: "/sessionId", Status: "/status",
			Workspaces: "/workspaces", Next: "/next"},
		Read: wire.Credential{Header: "Authorization"},
	}
}

const (
	runtimeJS            = "js"
	runtimeDurableObject = "durable-object"
)

// firstSource are the lines of a first source.
const firstSource = `url = "https://agents.example/healthz/{session}"
list_url = "https://agents.example/operator/sessions"
#aggregate_url = "https://agents.example/operator/workspaces"  # all workspaces in one answer
#actions = ["reset"]
#[source.read]
#env = "HELIX_TOKEN"
#[source.act]
#env = "HELIX_ACT_TOKEN"
#[source.reset]
#url = "https://agents.example/operator/sessions/{session}/workspaces/{workspace}/reset"
`

// Kind builds helix sources.
func Kind() backend.SourceKind {
	return backend.NewSourceKind("helix", "workspace registries of Helix Agents servers, by their health, list or aggregate routes",
		func() Options { return *defaults() },
		func(o *Options, opts backend.Options, deps backend.Deps) (backend.Source, error) {
			return newSource(o, opts, deps)
		}).
		WithSample(firstSource).Delivering(backend.InputRegistry, backend.InputSessions)
}

// elsewhere says where to look for runtimes that have no workspaces to poll: they refuse at run start.
var elsewhere = map[string]string{
	"temporal":             "Temporal's own web UI and metrics, or with `temporal workflow list`",
	"dbos":                 "the DBOS console or its workflow tables",
	"cloudflare-workflows": "`wrangler workflows instances list`",
}

func (o *Options) check(opts backend.Options) error {
	if where, known := elsewhere[o.Runtime]; known {
		return opts.Refuse("runtime", "%s does not support workspaces: its runs refuse agents that declare one, so "+
			"there is no registry to poll; look at those runs in %s", o.Runtime, where)
	}
	if o.Runtime != runtimeJS && o.Runtime != runtimeDurableObject {
		return opts.Refuse("runtime", "%q is not known; write js or durable-object", o.Runtime)
	}
	if err := o.checkRoutes(opts); err != nil {
		return err
	}
	if o.RequestsPerSec < 0.01 || o.RequestsPerSec > 1000 {
		return opts.Refuse("requests_per_second", "%v is outside 0.01 to 1000", o.RequestsPerSec)
	}
	for word, class := range o.States {
		known := []backend.StateClass{backend.ClassHealthy, backend.ClassOpening, backend.ClassFailed, backend.ClassEvicted, backend.ClassClosed}
		if !slices.Contains(known, backend.StateClass(class)) {
			return opts.Refuse("states", "%q is mapped to %q; write healthy, opening, failed, evicted or closed", word, class)
		}
	}
	if o.IdleInterval.Std() <= 0 {
		return opts.Refuse("idle_interval", "must be above zero")
	}
	if o.MaxBody < 1000 {
		return opts.Refuse("max_body", "must be at least 1kB")
	}
	for key, p := range map[string]string{"idle_match.pointer": o.IdleMatch.Pointer, "pointers.sessions": o.Pointers.Sessions,
		"pointers.session_id": o.Pointers.SessionID, "pointers.status": o.Pointers.Status,
		"pointers.workspaces": o.Pointers.Workspaces, "pointers.next": o.Pointers.Next} {
		if !wire.ValidPointer(p) {
			return opts.Refuse(key, "%q is not a JSON pointer; write for example /data/items", p)
		}
	}
	return o.Read.Check(opts)
}

func (o *Options) checkRoutes(opts backend.Options) error {
	if o.URL == "" && o.AggregateURL == "" {
		return opts.Refuse("url", "is missing: give the health route of a session (url) or an aggregate_url")
	}
	for key, u := range map[string]string{"url": o.URL, "list_url": o.ListURL, "aggregate_url": o.AggregateURL} {
		if u == "" {
			continue
		}
		if err := checkTemplate(u, key == "url"); err != nil {
			return opts.Refuse(key, "%v", err)
		}
		if err := onlySession(u); err != nil {
			return opts.Refuse(key, "%v", err)
		}
	}
	perSession := strings.Contains(o.URL, placeholder)
	for name, v := range o.Headers {
		if !wire.HeaderName(name) || !wire.HeaderText(v) {
			return opts.Refuse("headers", "%q cannot be a header", name)
		}
		if err := onlySession(v); err != nil {
			return opts.Refuse("headers", "%q: %v", name, err)
		}
		perSession = perSession || strings.Contains(v, placeholder)
	}
	if o.URL != "" && !perSession {
		return opts.Refuse("url", "asks the same for every session: put {session} into url or into a header")
	}
	if o.AggregateURL != "" {
		return nil
	}
	discovered := o.ListURL != "" || o.SessionsFile != "" || len(o.SessionsCommand) > 0
	switch {
	case !discovered && len(o.Sessions) == 0:
		return opts.Refuse("sessions", "no session can be found: give sessions, sessions_file, sessions_command, list_url or aggregate_url")
	case o.Runtime == runtimeDurableObject && o.ListURL == "":
		return opts.Refuse("list_url", "is missing: asking a Durable Object keeps it awake and billed, so only sessions "+
			"that a list route calls running are asked (or give an aggregate_url)")
	}
	return nil
}
