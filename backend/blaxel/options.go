package blaxel

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// The names that Blaxel's own tools use for what the configuration may leave out.
const (
	envKey       = "BL_API_KEY"
	envWorkspace = "BL_WORKSPACE"
	envURL       = "BL_API_URL"
	envClient    = "BL_CLIENT_CREDENTIALS"
)

// Options are the keys of a blaxel source.
type Options struct {
	Workspace      string           `toml:"workspace" doc:"name of the Blaxel workspace; empty: the environment variable BL_WORKSPACE, else that of the vendor's CLI"`
	URL            string           `toml:"url" doc:"base of the control plane; empty: the environment variable BL_API_URL, else https://api.blaxel.ai/v0"`
	APIVersion     string           `toml:"api_version" doc:"version of the control plane that is asked for; empty: its oldest one"`
	Hosts          []string         `toml:"hosts" doc:"domains, with all below them, below which the own API of a sandbox is expected: one elsewhere is told, and gets no key"`
	SessionLabel   string           `toml:"session_label" doc:"label whose value is the session id"`
	WorkspaceLabel string           `toml:"workspace_label" doc:"label whose value is the workspace name"`
	Inventory      backend.Duration `toml:"inventory" doc:"how often sandboxes are listed, at least 5s"`
	Sweep          backend.Duration `toml:"sweep" doc:"how often the own record and the previews of a sandbox are read, as far as the budget allows"`
	RequestsPerSec float64          `toml:"requests_per_second" doc:"request budget; 429, 503 and doubled latency halve it"`
	CLIConfig      string           `toml:"cli_config" path:"file" doc:"configuration of the vendor's CLI, whose key is read where nothing else gives one; empty: ~/.blaxel/config.yaml"`
	Read           wire.Credential  `toml:"read" doc:"the API key; without this table the environment variable BL_API_KEY, else the vendor's CLI"`
}

const usualURL = "https://api.blaxel.ai/v0"

func defaults() Options {
	return Options{APIVersion: "2026-04-28", Hosts: []string{"bl.run"}, SessionLabel: "sandglass.session", WorkspaceLabel: "sandglass.workspace",
		Inventory: backend.Duration(10 * time.Second), Sweep: backend.Duration(10 * time.Minute), RequestsPerSec: 4, Read: wire.Credential{Header: "Authorization"}}
}

// firstSource are the lines of a first source.
const firstSource = `workspace = "acme"
[source.read]
env = "BL_API_KEY"
`

// Kind is the source kind "blaxel".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("blaxel", "sandboxes of a Blaxel workspace with their previews and snapshots", defaults,
		func(o *Options, opts backend.Options, deps backend.Deps) (backend.Source, error) {
			login, err := o.complete(opts, deps)
			if err != nil {
				return nil, err
			}
			return newSource(o, login, deps)
		}).
		WithSample(firstSource).FromEnv(envKey, envClient).Delivering(backend.InputContainers, backend.InputPlatform)
}

var (
	workspaceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)
	versionName   = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	domainName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)
)

// complete takes what the configuration leaves out from the environment and the vendor's CLI, and refuses what can be judged
// without a request. login is the CLI's, nil when another key is used.
func (o *Options) complete(opts backend.Options, deps backend.Deps) (login *cliLogin, err error) {
	getenv := deps.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	if err := o.Read.Check(opts); err != nil {
		return nil, err
	}
	o.URL = cmp.Or(o.URL, getenv(envURL), usualURL)
	o.Workspace = cmp.Or(o.Workspace, getenv(envWorkspace))
	if o.Read.IsZero() && getenv(envKey) != "" {
		o.Read.Env = envKey
	}
	if o.Read.IsZero() || o.Workspace == "" {
		login = newCLILogin(o.CLIConfig, o.Workspace, getenv, deps.Now)
		o.Workspace = cmp.Or(o.Workspace, login.workspaceName())
	}
	if !o.Read.IsZero() {
		login = nil
	}
	switch {
	case o.Workspace == "":
		return nil, opts.Refuse("workspace", "nothing says which workspace: give workspace, or set %s%s", envWorkspace, login.unread())
	case !workspaceName.MatchString(o.Workspace):
		return nil, opts.Refuse("workspace", "%q is not the name of a workspace", o.Workspace)
	case o.APIVersion != "" && !versionName.MatchString(o.APIVersion):
		return nil, opts.Refuse("api_version", "%q is not a version such as 2026-04-28", o.APIVersion)
	case o.Inventory.Std() < 5*time.Second:
		return nil, opts.Refuse("inventory", "must be at least 5s")
	case o.Sweep.Std() < time.Minute:
		return nil, opts.Refuse("sweep", "must be at least 1m")
	case o.RequestsPerSec < 0.1 || o.RequestsPerSec > 1000:
		return nil, opts.Refuse("requests_per_second", "%v is outside 0.1 to 1000", o.RequestsPerSec)
	}
	for _, d := range o.Hosts {
		if !domainName.MatchString(d) {
			return nil, opts.Refuse("hosts", "%q is not a domain; write for example bl.run", d)
		}
	}
	if err := wire.CheckURL(o.URL); err != nil {
		return nil, opts.Refuse("url", "%v", err)
	}
	if strings.ContainsAny(o.URL, "?#{") {
		return nil, opts.Refuse("url", "has a query, a fragment or a placeholder; the routes and their queries are added behind it")
	}
	o.URL = strings.TrimRight(o.URL, "/")
	return login, nil
}
