package refs

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// The formats and layouts that a configuration can name.
const (
	formatAuto  = "auto"
	formatJSON  = "json"
	formatLines = "jsonl"

	layoutHelix = "helix"
	layoutSDK   = "agent-sdk"
)

// Options are the keys of a source of kind "refs".
type Options struct {
	Files        []string         `toml:"files" path:"file" doc:"globs of files that hold saved session state"`
	Command      []string         `toml:"command" path:"program" doc:"or: argv of a command that prints it and ends"`
	CommandEvery backend.Duration `toml:"command_every" doc:"the command runs at most this often"`
	Format       string           `toml:"format" doc:"auto, json (one document) or jsonl (one document a line)"`
	Layout       string           `toml:"layout" doc:"helix (persisted workspaceRefs) or agent-sdk (saved run state); decides the default pointers"`
	NamePattern  string           `toml:"name_pattern" doc:"regular expression on file names with a group named session, for documents that do not name theirs"`
	MaxFiles     int              `toml:"max_files" doc:"files read, the newest first"`
	MaxBody      backend.Size     `toml:"max_body" doc:"largest file or output"`
	MaxRefs      int              `toml:"max_refs" doc:"refs kept of all files together"`
	Pointers     Pointers         `toml:"pointers" doc:"JSON pointers; of several the first that leads somewhere counts, \"\" is the value itself"`
}

// Pointers say where facts stand.
type Pointers struct {
	Sessions      []string `toml:"sessions" doc:"from the document: its sessions, as an array, as an object by id, or one session"`
	Session       []string `toml:"session" doc:"from a session: its id"`
	Status        []string `toml:"status" doc:"from a session: its status"`
	SavedAt       []string `toml:"saved_at" doc:"from a session: when it was saved; else the time of the file"`
	Refs          []string `toml:"refs" doc:"from a session: its refs, as an array, as an object by workspace name, or one ref"`
	Workspace     []string `toml:"workspace" doc:"from a ref: the workspace name"`
	SessionName   []string `toml:"session_name" doc:"from a session: a name for its ref, where neither the ref nor an object of refs gives one"`
	Provider      []string `toml:"provider" doc:"from a ref: who made the workspace"`
	Ref           []string `toml:"ref" doc:"from a ref: the provider's own part"`
	Capabilities  []string `toml:"capabilities" doc:"from a ref: what the workspace was opened for"`
	SchemaVersion []string `toml:"schema_version" doc:"from a ref: version of its form"`
	Sandbox       []string `toml:"sandbox" doc:"from a ref: id of the machine behind it; without it refs and sandboxes cannot be compared"`
	Namespace     []string `toml:"namespace" doc:"from a ref: namespace of stored files"`
}

// firstSource are the lines of a first source.
const firstSource = `files = ["/var/lib/agents/sessions/*.json"]
`

// Kind is the source kind "refs".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("refs", "saved session state: which workspaces and sandboxes sessions will ask for again", func() Options { return defaults(layoutHelix) }, open).
		WithSample(firstSource).Delivering(backend.InputRefs)
}

func defaults(layout string) Options {
	o := Options{
		CommandEvery: backend.Duration(time.Minute),
		Format:       formatAuto,
		Layout:       layout,
		MaxFiles:     1000,
		MaxBody:      16e6,
		MaxRefs:      100_000,
	}
	if layout == layoutSDK {
		// Names from the run state of openai-agents-python 0.22: see docs/backends/refs.md.
		o.Pointers = Pointers{
			Sessions:    []string{"/sandbox/sessions_by_agent", "/sandbox", ""},
			Session:     []string{"/session_state/session_id", "/session_id"},
			Refs:        []string{"/session_state", ""},
			SessionName: []string{"/agent_name", "/current_agent_name"},
			Provider:    []string{"/type"},
			Ref:         []string{"/snapshot"},
			Sandbox:     []string{"/sandbox_id", "/sandbox_name", "/container_id", "/devbox_id"},
		}
		return o
	}
	o.Pointers = Pointers{
		Sessions:      []string{"/sessions", ""},
		Session:       []string{"/sessionId"},
		Status:        []string{"/status"},
		Refs:          []string{"/workspaceRefs", "/workspaceRef"},
		Workspace:     []string{"/name"},
		Provider:      []string{"/providerId"},
		Ref:           []string{"/ref"},
		Capabilities:  []string{"/capabilities"},
		SchemaVersion: []string{"/schemaVersion"},
	}
	return o
}

func open(opts *Options, o backend.Options, deps backend.Deps) (backend.Source, error) {
	switch opts.Layout {
	case layoutHelix:
	case layoutSDK: // again, on top of the defaults that the layout asks for
		*opts = defaults(layoutSDK)
		if err := o.Decode(opts); err != nil {
			return nil, err
		}
	default:
		return nil, o.Refuse("layout", "%q is not a layout; write helix or agent-sdk, and pointers for what differs", opts.Layout)
	}
	if err := opts.check(o); err != nil {
		return nil, err
	}
	return newSource(*opts, deps)
}

func (opts *Options) check(o backend.Options) error {
	switch {
	case len(opts.Files) == 0 && len(opts.Command) == 0:
		return o.Refuse("kind", "a refs source needs files or command")
	case len(opts.Files) > 0 && len(opts.Command) > 0:
		return o.Refuse("kind", "files and command are two places; make one source for each")
	case !slices.Contains([]string{formatAuto, formatJSON, formatLines}, opts.Format):
		return o.Refuse("format", "%q is not a format; write auto, json or jsonl", opts.Format)
	case opts.MaxFiles < 1 || opts.MaxFiles > 100_000:
		return o.Refuse("max_files", "want 1 to 100000")
	case opts.MaxBody < 1000 || opts.MaxBody > 1e9:
		return o.Refuse("max_body", "want 1kB to 1GB")
	case opts.MaxRefs < 1 || opts.MaxRefs > 1_000_000:
		return o.Refuse("max_refs", "want 1 to 1000000")
	case opts.CommandEvery.Std() < time.Second:
		return o.Refuse("command_every", "want at least 1s")
	case len(opts.Command) > 0 && opts.Command[0] == "":
		return o.Refuse("command", "the first word is the program")
	}
	for _, g := range opts.Files {
		if err := checkGlob(g); err != nil {
			return o.Refuse("files", "%q: %v", g, err)
		}
	}
	if opts.NamePattern != "" {
		re, err := regexp.Compile(opts.NamePattern)
		if err != nil {
			return o.Refuse("name_pattern", "%v", err)
		}
		if re.SubexpIndex("session") < 0 {
			return o.Refuse("name_pattern", "it has no group (?P<session>…)")
		}
	}
	return opts.Pointers.check(o)
}

func (p *Pointers) check(o backend.Options) error {
	for _, x := range []struct {
		key  string
		list []string
		need bool
		self bool // "" is allowed
	}{
		{"sessions", p.Sessions, true, true}, {"session", p.Session, false, false}, {"status", p.Status, false, false},
		{"saved_at", p.SavedAt, false, false}, {"refs", p.Refs, true, true}, {"workspace", p.Workspace, false, false}, {"session_name", p.SessionName, false, false},
		{"provider", p.Provider, false, false}, {"ref", p.Ref, false, true}, {"capabilities", p.Capabilities, false, false},
		{"schema_version", p.SchemaVersion, false, false}, {"sandbox", p.Sandbox, false, true}, {"namespace", p.Namespace, false, false},
	} {
		if x.need && len(x.list) == 0 {
			return o.Refuse("pointers."+x.key, "name at least one place; \"\" is the value itself")
		}
		for _, s := range x.list {
			if !wire.ValidPointer(s) || s == "" && !x.self {
				return o.Refuse("pointers."+x.key, "%q is not a JSON pointer; write for example /sessionId", s)
			}
		}
	}
	return nil
}

// names are the members of a ref that pointers name directly.
func (p *Pointers) names() []string {
	var out []string
	for _, list := range [][]string{p.Workspace, p.Provider, p.Ref, p.Capabilities, p.SchemaVersion, p.Sandbox, p.Namespace} {
		for _, s := range list {
			if name, ok := strings.CutPrefix(s, "/"); ok && !strings.ContainsAny(name, "/~") && name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}
