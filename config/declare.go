package config

import (
	"fmt"
	"path"
	"reflect"

	"sandglass/backend"
)

// Declaration is one [[declare]] of the file.
type Declaration struct {
	Source string // empty: every source
	backend.Declaration

	written *declared
}

// declared are the keys of [[declare]]. A nil pointer means that a key is missing, as opposed to false or zero.
type declared struct {
	Source    string `toml:"source" doc:"id of the source; empty: every source"`
	Session   string `toml:"session" doc:"glob over session ids"`
	Workspace string `toml:"workspace" doc:"glob over workspace names"`

	Provider            string            `toml:"provider" doc:"what the sandbox behind it is: docker, cloudflare-sandbox, blaxel, local-bash, …"`
	ID                  string            `toml:"id" doc:"the sandbox id that the provider was given"`
	Namespace           string            `toml:"namespace" doc:"the namespace that ids are unique in"`
	ShareAcrossSessions *bool             `toml:"share_across_sessions" doc:"whether other sessions may open the same sandbox"`
	InheritWorkspaces   *bool             `toml:"inherit_workspaces" doc:"whether branched sessions inherit it"`
	DestroyOnClose      *bool             `toml:"destroy_on_close" doc:"whether closing it destroys the sandbox"`
	SleepAfter          *backend.Duration `toml:"sleep_after" doc:"idle time after which the sandbox sleeps"`
	CloseTimeout        *backend.Duration `toml:"close_timeout" doc:"how long a close may take"`
	Concurrency         *int              `toml:"concurrency" doc:"operations that may run at once"`
	MaxFileSize         *backend.Size     `toml:"max_file_size" doc:"largest file that may be written"`
	RetryAttempts       *int              `toml:"retry_attempts" doc:"attempts to recover it after an eviction"`
	ResetAfter          *backend.Duration `toml:"reset_after" doc:"when a failed workspace is reset by itself"`
	Tenant              string            `toml:"tenant" doc:"whose session it is"`
	Runtime             string            `toml:"runtime" doc:"where the session runs: js, durable-object"`
	FrameworkVersion    string            `toml:"framework_version" doc:"version of the agent framework"`
	SDKVersion          string            `toml:"sdk_version" doc:"version of the sandbox SDK that it uses, such as @cloudflare/sandbox"`
}

func declaredDefaults() *declared { return &declared{Session: "*", Workspace: "*"} }

// DeclarationsFor returns what is declared for one source, in the order of the file.
func (c *Config) DeclarationsFor(source string) []backend.Declaration {
	var all []backend.Declaration
	for _, d := range c.Declarations {
		if d.Source == "" || d.Source == source {
			all = append(all, d.Declaration)
		}
	}
	return all
}

func (p *parser) declarations(root *node) {
	for i, b := range p.blocks(root, "declare") {
		d := declaredDefaults()
		o := &options{file: p.file, block: b, where: fmt.Sprintf("[[declare]] number %d", i+1)}
		if b.raw != nil {
			p.inlined(b)
			continue
		}
		if !p.decode(o, d) {
			continue
		}
		if d.Source != "" && p.config.Source(d.Source) == nil {
			var ids []string
			for _, s := range p.config.Sources {
				ids = append(ids, s.ID)
			}
			p.collect(o.Refuse("source", "there is no source %q%s", d.Source, suggest(d.Source, ids)))
		}
		for key, glob := range map[string]string{"session": d.Session, "workspace": d.Workspace} {
			if _, err := path.Match(glob, ""); err != nil {
				p.collect(o.Refuse(key, "%q is not a glob: a bracket is not closed", glob))
			}
		}
		out := Declaration{Source: d.Source, written: d, Declaration: backend.Declaration{Session: d.Session, Workspace: d.Workspace}}
		for key, raw := range map[string]string{"id": d.ID, "namespace": d.Namespace} {
			if len(raw) > backend.MaxIDBytes {
				p.collect(o.Refuse(key, "is longer than %d bytes", backend.MaxIDBytes))
				raw = ""
			}
			if id, err := backend.NewID(raw); err == nil && key == "id" {
				out.ProviderID = id
			} else if err == nil {
				out.Namespace = id
			}
		}
		d.fill(&out.Declaration)
		p.config.Declarations = append(p.config.Declarations, out)
	}
}

// maxDeclaredText bounds a declared name; it is drawn in narrow columns.
const maxDeclaredText = 200

func (d *declared) fill(out *backend.Declaration) {
	out.Tenant = backend.Clean(d.Tenant, maxDeclaredText)
	out.Runtime = backend.Clean(d.Runtime, maxDeclaredText)
	out.FrameworkVersion = backend.Clean(d.FrameworkVersion, maxDeclaredText)
	out.SDKVersion = backend.Clean(d.SDKVersion, maxDeclaredText)
	out.Provider = backend.Clean(d.Provider, maxDeclaredText)
	out.ShareAcrossSessions = declaredValue(d.ShareAcrossSessions)
	out.InheritWorkspaces = declaredValue(d.InheritWorkspaces)
	out.DestroyOnClose = declaredValue(d.DestroyOnClose)
	out.Concurrency = declaredValue(d.Concurrency)
	out.RetryAttempts = declaredValue(d.RetryAttempts)
	if d.SleepAfter != nil {
		out.SleepAfter = backend.Known(d.SleepAfter.Std())
	}
	if d.CloseTimeout != nil {
		out.CloseTimeout = backend.Known(d.CloseTimeout.Std())
	}
	if d.ResetAfter != nil {
		out.ResetAfter = backend.Known(d.ResetAfter.Std())
	}
	if d.MaxFileSize != nil {
		out.MaxFileSize = backend.Known(int64(*d.MaxFileSize))
	}
}

func declaredValue[T any](p *T) backend.Value[T] {
	if p == nil {
		return backend.Unknown[T]()
	}
	return backend.Known(*p)
}

func typeOf[T any](p *T) reflect.Type { return reflect.TypeOf(p).Elem() }
