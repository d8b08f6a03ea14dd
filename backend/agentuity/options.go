package agentuity

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Options are the keys of an agentuity source.
type Options struct {
	Regions        []string         `toml:"regions" doc:"regions whose sandboxes are read, such as usc, use and usw"`
	Org            string           `toml:"org" doc:"organisation, org_…; empty: the one that the key belongs to"`
	URL            string           `toml:"url" doc:"base of the sandbox routes; {region} is replaced by a region"`
	APIURL         string           `toml:"api_url" doc:"base of the routes that know all regions; they take CLI keys only, and are asked where a sandbox is that its region refuses; empty: never"`
	Hub            bool             `toml:"hub" doc:"read the sessions of the Coder Hub"`
	HubURL         string           `toml:"hub_url" doc:"base of the Hub without /api; empty: what the first region answers at /coder"`
	HubHosts       []string         `toml:"hub_hosts" doc:"domains, with all below them, to which a Hub that a region names gets the key"`
	CLIProfile     string           `toml:"cli_profile" doc:"profile of the vendor's CLI whose key is read, such as production, or current for the one that the CLI uses; instead of the table read"`
	CLIConfigDir   string           `toml:"cli_config_dir" path:"file" doc:"directory of those profiles; empty: AGENTUITY_CONFIG_DIR, else ~/.config/agentuity"`
	KeyWarning     backend.Duration `toml:"key_warning" doc:"how long before the key of the profile expires the source says so"`
	RequestsPerSec float64          `toml:"requests_per_second" doc:"request budget of the sandbox routes; alerting and visible subjects come first, 429, 503 and doubled latency halve it"`
	FullList       backend.Duration `toml:"full_list" doc:"how often all sandboxes are listed; between these lists only live ones are"`
	Sweep          backend.Duration `toml:"sweep" doc:"how often executions, jobs and events of a live sandbox are read at least, as far as the budget allows"`
	StuckAfter     backend.Duration `toml:"stuck_after" doc:"how long an execution may be queued while nothing runs; of an idle sandbox 15s in three readings are enough"`
	DriverLimit    backend.Duration `toml:"driver_limit" doc:"how long a session may lack a driver: the Hub gives one 120s"`
	ListDirectory  bool             `toml:"list_directory" doc:"list one directory of an idle or running sandbox when its session or its events say that it may be broken, at most every 5 minutes; whether that wakes or records anything is not documented"`
	Directory      string           `toml:"directory" doc:"the directory that is listed then"`
	Read           wire.Credential  `toml:"read" doc:"the reading key"`
}

func defaults() Options {
	return Options{
		Regions: []string{"usc"}, URL: "https://catalyst-{region}.agentuity.cloud", APIURL: "https://api.agentuity.com",
		Hub: true, HubHosts: []string{"agentuity.cloud", "agentuity.com", "agentuity.io"},
		KeyWarning: backend.Duration(24 * time.Hour), RequestsPerSec: 8, FullList: backend.Duration(time.Minute), Sweep: backend.Duration(10 * time.Minute),
		StuckAfter: backend.Duration(30 * time.Second), DriverLimit: backend.Duration(2 * time.Minute), ListDirectory: true, Directory: "/home/agentuity", Read: wire.Credential{Header: "Authorization"},
	}
}

// firstSource are the lines of a first source.
const firstSource = `cli_profile = "production"  # or a table [source.read] with env, file or command
#regions = ["usc"]
#org = "org_2xYourOrganisation"
#actions = ["resume", "pause", "destroy"]
#[source.act]
#env = "AGENTUITY_ACT_KEY"
`

// Kind is the source kind "agentuity".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("agentuity", "sandboxes of Agentuity with their executions, jobs and events, and the sessions of its Coder Hub",
		defaults, func(o *Options, opts backend.Options, deps backend.Deps) (backend.Source, error) {
			if err := o.check(opts); err != nil {
				return nil, err
			}
			return newSource(o, deps)
		}).
		WithSample(firstSource).Delivering(backend.InputContainers, backend.InputPlatform, backend.InputSessions)
}

var regionName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)

// check refuses what can be judged without a request.
func (o *Options) check(opts backend.Options) error {
	if err := o.checkPlaces(opts); err != nil {
		return err
	}
	if err := o.Read.Check(opts); err != nil {
		return err
	}
	switch {
	case o.CLIProfile != "" && !o.Read.IsZero():
		return opts.Refuse("cli_profile", "give cli_profile or the table read, not both")
	case o.CLIProfile == "" && o.Read.IsZero():
		return opts.Refuse("read", "nothing says where the key is: add [source.read] with env, file or command, or cli_profile = \"production\" for the profile of the vendor's CLI")
	case strings.ContainsAny(o.CLIProfile, `/\`) || o.CLIProfile == "." || o.CLIProfile == "..":
		return opts.Refuse("cli_profile", "%q is not the name of a profile; write for example production", o.CLIProfile)
	case o.CLIConfigDir != "" && o.CLIProfile == "":
		return opts.Refuse("cli_config_dir", "is read for cli_profile only; add cli_profile = \"production\"")
	case o.RequestsPerSec < 0.1 || o.RequestsPerSec > 1000:
		return opts.Refuse("requests_per_second", "%v is outside 0.1 to 1000", o.RequestsPerSec)
	case o.FullList.Std() < 10*time.Second:
		return opts.Refuse("full_list", "must be at least 10s")
	case o.Sweep.Std() < time.Minute:
		return opts.Refuse("sweep", "must be at least 1m")
	case o.StuckAfter.Std() < 5*time.Second:
		return opts.Refuse("stuck_after", "must be at least 5s: a healthy queue takes some seconds")
	case o.DriverLimit.Std() < 10*time.Second:
		return opts.Refuse("driver_limit", "must be at least 10s")
	case !strings.HasPrefix(o.Directory, "/"):
		return opts.Refuse("directory", "%q is relative; write for example /home/agentuity", o.Directory)
	}
	return nil
}

func (o *Options) checkPlaces(opts backend.Options) error {
	if len(o.Regions) == 0 {
		return opts.Refuse("regions", "must name at least one region, for example usc")
	}
	for i, r := range o.Regions {
		if !regionName.MatchString(r) {
			return opts.Refuse("regions", "%q is not a region; write for example usc", r)
		}
		if slices.Contains(o.Regions[:i], r) {
			return opts.Refuse("regions", "%q is named twice", r)
		}
	}
	if err := wire.CheckURL(strings.ReplaceAll(o.URL, "{region}", "x")); err != nil {
		return opts.Refuse("url", "%v", err)
	}
	if len(o.Regions) > 1 && !strings.Contains(o.URL, "{region}") {
		return opts.Refuse("url", "is the same for every region; put {region} into it")
	}
	for _, u := range []struct{ key, url string }{{"api_url", o.APIURL}, {"hub_url", o.HubURL}} {
		if u.url == "" {
			continue
		}
		if err := wire.CheckURL(u.url); err != nil {
			return opts.Refuse(u.key, "%v", err)
		}
	}
	switch {
	case strings.ContainsAny(o.URL+o.APIURL+o.HubURL, "?#"):
		return opts.Refuse("url", "has a query or a fragment; the routes and their queries are added behind it")
	case o.Org != "" && (strings.ContainsAny(o.Org, " \t\r\n") || len(o.Org) > 200):
		return opts.Refuse("org", "%q is not the id of an organisation, org_…", o.Org)
	}
	return nil
}

// baseOf is the base of the sandbox routes of a region. The region "local" has an address of its own, as in the vendor's client.
func (o *Options) baseOf(region string) string {
	if (region == "local" || region == "l") && o.URL == defaults().URL {
		return "https://catalyst.agentuity.io"
	}
	return strings.TrimRight(strings.ReplaceAll(o.URL, "{region}", region), "/")
}
