package cloudflare

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// The names that Cloudflare's own tools use for what the configuration may leave out.
const (
	envToken   = "CLOUDFLARE_API_TOKEN"
	envAccount = "CLOUDFLARE_ACCOUNT_ID"
	envBridge  = "SANDBOX_WORKER_URL"
	envKey     = "SANDBOX_API_KEY"
)

// Options are the keys of a cloudflare source.
type Options struct {
	AccountID      string           `toml:"account_id" doc:"account, 32 hexadecimal digits; empty: the environment variable CLOUDFLARE_ACCOUNT_ID"`
	URL            string           `toml:"url" doc:"base of the account API"`
	Applications   []string         `toml:"applications" doc:"names or ids of the container applications that are read; empty: all"`
	Inventory      backend.Duration `toml:"inventory" doc:"how often applications and live instances are listed, at least 10s"`
	Ended          backend.Duration `toml:"ended" doc:"how long an instance stays listed after its end: the platform keeps them for months"`
	Analytics      bool             `toml:"analytics" doc:"ask the account's analytics for CPU, memory and traffic of instances; the token needs Account Analytics Read"`
	RequestsPerSec float64          `toml:"requests_per_second" doc:"request budget; the account allows 1200 requests in 5 minutes to all programs of a user or token together"`
	BridgeURL      string           `toml:"bridge_url" doc:"base of the bridge Worker; empty: the environment variable SANDBOX_WORKER_URL, else none"`
	Sandboxes      []string         `toml:"sandboxes" doc:"sandbox ids of the bridge that are known: neither the bridge nor the account API lists them"`
	OpsPrefix      string           `toml:"ops_prefix" doc:"path of your own operator routes in the bridge Worker, such as /ops; empty: there are none"`
	Read           wire.Credential  `toml:"read" doc:"the API token; without this table the environment variable CLOUDFLARE_API_TOKEN"`
	Bridge         wire.Credential  `toml:"bridge" doc:"the key of the bridge, for its passive routes; without this table the environment variable SANDBOX_API_KEY"`
}

func defaults() Options {
	return Options{URL: "https://api.cloudflare.com/client/v4", Inventory: backend.Duration(10 * time.Second), Ended: backend.Duration(24 * time.Hour),
		Analytics: true, RequestsPerSec: 2, Read: wire.Credential{Header: "Authorization"}, Bridge: wire.Credential{Header: "Authorization"}}
}

// exampleAccount stands in the lines of a first source until it is replaced, and names no account.
const exampleAccount = "0123456789abcdef0123456789abcdef"

// firstSource are the lines of a first source.
const firstSource = `account_id = "` + exampleAccount + `"  # yours; this one, or none: CLOUDFLARE_ACCOUNT_ID
#bridge_url = "https://bridge.example.workers.dev"  # left out: SANDBOX_WORKER_URL
#sandboxes = ["abcdefghijklmnopqrstuvwxyz"]
[source.read]
env = "CLOUDFLARE_API_TOKEN"
`

// Kind is the source kind "cloudflare".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("cloudflare", "containers of a Cloudflare account: applications, instances, and the sandboxes of a bridge Worker",
		defaults, func(o *Options, opts backend.Options, deps backend.Deps) (backend.Source, error) {
			from := "account_id"
			if env := deps.Getenv; o.AccountID == "" || o.AccountID == exampleAccount && env != nil && env(envAccount) != "" {
				o.AccountID, from = "", envAccount
			}
			if err := o.complete(opts, deps.Getenv); err != nil {
				return nil, err
			}
			s, err := newSource(o, deps)
			if err != nil {
				return nil, err
			}
			s.accountFrom = from
			return s, nil
		}).
		WithSample(firstSource).FromEnv(envToken, envBridge).Delivering(backend.InputContainers, backend.InputCapacity)
}

var (
	accountID = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)
	sandboxID = regexp.MustCompile(`^[a-z2-7]{1,128}$`)
)

// complete takes what the configuration leaves out from the environment, and refuses what can be judged without a request.
func (o *Options) complete(opts backend.Options, getenv func(string) string) error {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	if err := o.Read.Check(opts); err != nil {
		return err
	}
	if err := o.Bridge.CheckAt(opts, "bridge"); err != nil {
		return err
	}
	o.AccountID = cmp.Or(o.AccountID, getenv(envAccount))
	o.BridgeURL = cmp.Or(o.BridgeURL, getenv(envBridge))
	if o.Read.IsZero() {
		o.Read.Env = envToken
	}
	if o.Bridge.IsZero() && getenv(envKey) != "" {
		o.Bridge.Env = envKey
	}
	switch {
	case o.AccountID == "":
		return opts.Refuse("account_id", "nothing says which account: give account_id, or set %s", envAccount)
	case !accountID.MatchString(o.AccountID):
		return opts.Refuse("account_id", "%q is not 32 hexadecimal digits; the dashboard shows the id of the account", o.AccountID)
	case o.Inventory.Std() < 10*time.Second:
		return opts.Refuse("inventory", "must be at least 10s: the account API bounds requests")
	case o.Ended.Std() < time.Minute:
		return opts.Refuse("ended", "must be at least 1m")
	case o.RequestsPerSec < 0.1 || o.RequestsPerSec > 1000:
		return opts.Refuse("requests_per_second", "%v is outside 0.1 to 1000", o.RequestsPerSec)
	}
	if err := checkBase(o.URL); err != "" {
		return opts.Refuse("url", "%s", err)
	}
	return o.checkBridge(opts)
}

func checkBase(raw string) string {
	if err := wire.CheckURL(raw); err != nil {
		return err.Error()
	}
	if strings.ContainsAny(raw, "?#{") {
		return "has a query, a fragment or a placeholder; the routes and their queries are added behind it"
	}
	return ""
}

func (o *Options) checkBridge(opts backend.Options) error {
	if o.BridgeURL != "" {
		if err := checkBase(o.BridgeURL); err != "" {
			return opts.Refuse("bridge_url", "%s", err)
		}
	}
	for i, id := range o.Sandboxes {
		switch {
		case !sandboxID.MatchString(id):
			return opts.Refuse("sandboxes", "%q is not a sandbox id of the bridge: 1 to 128 of the characters a-z and 2-7", id)
		case slices.Contains(o.Sandboxes[:i], id):
			return opts.Refuse("sandboxes", "%q is named twice", id)
		}
	}
	switch {
	case o.OpsPrefix != "" && o.BridgeURL == "":
		return opts.Refuse("ops_prefix", "is read with bridge_url only; add bridge_url, or set %s", envBridge)
	case o.OpsPrefix != "" && (!strings.HasPrefix(o.OpsPrefix, "/") || strings.ContainsAny(o.OpsPrefix, "?# ") || strings.Contains(o.OpsPrefix, "/v1/sandbox")):
		return opts.Refuse("ops_prefix", "%q is not a path of your own such as /ops", o.OpsPrefix)
	}
	return nil
}
