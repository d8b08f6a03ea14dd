package agentuity

import (
	"strings"
	"testing"

	"sandglass/backend/backendtest"
)

// TestOptionsAreChecked before anything is asked.
func TestOptionsAreChecked(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"nothing says where the key is":             func(o *Options) { o.Read.Env = "" },
		"give cli_profile or the table read":        func(o *Options) { o.CLIProfile = "production" },
		"is not the name of a profile":              func(o *Options) { o.Read.Env, o.CLIProfile = "", "../x" },
		"must name at least one region":             func(o *Options) { o.Regions = nil },
		"is not a region":                           func(o *Options) { o.Regions = []string{"us/c"} },
		"is named twice":                            func(o *Options) { o.Regions = []string{"usc", "usc"} },
		"is the same for every region":              func(o *Options) { o.Regions, o.URL = []string{"usc", "use"}, "https://one.example" },
		"not an absolute http or https URL":         func(o *Options) { o.URL = "catalyst" },
		"has a query or a fragment":                 func(o *Options) { o.HubURL = "https://hub.example?x=1" },
		"is outside 0.1 to 1000":                    func(o *Options) { o.RequestsPerSec = 0 },
		"full_list: must be at least 10s":           func(o *Options) { o.FullList = 1 },
		"sweep: must be at least 1m":                func(o *Options) { o.Sweep = 1 },
		"is relative; write for example":            func(o *Options) { o.Directory = "home" },
		"is read for cli_profile only":              func(o *Options) { o.CLIConfigDir = "/x" },
		"is not the id of an organisation":          func(o *Options) { o.Org = "my org" },
		"the URL holds a user or password":          func(o *Options) { o.APIURL = "https://me:pw@api.example" },
		"give exactly one of env, file and command": func(o *Options) { o.Read.File = "/x" },
	} {
		_, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.Read.Env = "KEY"; change(o) }), newWorld(t, nil).deps())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if got := (&Options{URL: defaults().URL}).baseOf("local"); got != "https://catalyst.agentuity.io" {
		t.Errorf("local is %s", got)
	}
	if got := (&Options{URL: defaults().URL}).baseOf("usw"); got != "https://catalyst-usw.agentuity.cloud" {
		t.Errorf("usw is %s", got)
	}
}
