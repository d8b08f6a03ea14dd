package demo

import (
	"fmt"
	"path/filepath"
	"strings"
)

// fewSessions is how many sessions of helix-us are asked one by one; more are
// read through the aggregate route.
const fewSessions = 300

// addresses are where the servers of a demo listen.
type addresses struct {
	helix   [instances]string // host:port
	metrics string
	docker  string // path of the socket
}

// config writes the configuration that points a console at this demo.
func (f *fleet) config(scenario string, seed uint64, at addresses) string {
	var b strings.Builder
	fmt.Fprintf(&b, firstWords+"%s, seed %d, %d workspaces, started %s\n", scenario, seed, len(f.workspaces), f.start.UTC().Format("2006-01-02T15:04:05Z"))
	b.WriteString("# demo: every address below is a loopback server or a file of this demo and ends with it\n")
	fmt.Fprintf(&b, "environment = \"demo\"\n"+stateKey+"%s\n", quote(filepath.Join(f.root, "state")))
	f.helixConfig(&b, eu, at, false)
	f.helixConfig(&b, us, at, f.asksOneByOne())
	fmt.Fprintf(&b, "\n[[source]]\nid = \"docker-demo\"\nkind = \"docker\"\nabout = [\"helix-eu\"]\nhost = %s\ntmpdir_pattern = %s\nfrozen_looks = 600\n"+
		"actions = [\"destroy\", \"stop\", \"pause\", \"resume\", \"repair\", \"probe\", \"prove\"]\n",
		quote("unix://"+at.docker), quote(filepath.Join(f.scratchRoot(), "helix-ws-*")))
	fmt.Fprintf(&b, "\n[[source]]\nid = \"metrics\"\nkind = \"prometheus\"\ninterval = \"5s\"\nabout = [\"helix-eu\", \"helix-us\"]\nmemory_limit = \"512MB\"\nurl = %s\n",
		quote("http://"+at.metrics+"/metrics"))
	var files []string
	for _, l := range f.logWriters() {
		files = append(files, quote(l.path))
	}
	fmt.Fprintf(&b, "\n[[source]]\nid = \"agent-log\"\nkind = \"logs\"\ninterval = \"1s\"\nabout = [\"helix-eu\", \"helix-us\"]\nfiles = [%s]\n", strings.Join(files, ", "))
	fmt.Fprintf(&b, "\n[[source]]\nid = \"scratch\"\nkind = \"tmpdir\"\ninterval = \"10s\"\nabout = [\"helix-eu\"]\nroots = [%s]\npattern = \"helix-ws-*\"\nwalk_interval = \"10s\"\n"+
		"host_tree = %s # demo: no figure is of this machine\n"+
		"actions = [\"clean\", \"purge\", \"undo\"]\nsession_lifetime = \"10m\" # demo: sessions that can be continued live longer\n"+
		"clean_older_than = \"10m\" # demo: the default is 48h\nengine_sockets = [] # demo: no engine of this machine uses these directories\n",
		quote(f.scratchRoot()), quote(f.root))
	b.WriteString("\n[rules.eviction-storm]\nover = \"1m\" # demo: the default is 5m\n")
	return b.String()
}

// asksOneByOne: a wide storm needs the provider of every workspace, which the
// health route does not report.
func (f *fleet) asksOneByOne() bool { return len(f.order[us]) <= fewSessions && !f.incidents.wide }

// tokenPath is the file with the token that the routes for acting ask for.
func (f *fleet) tokenPath() string { return filepath.Join(f.root, "act-token") }

func (f *fleet) helixConfig(b *strings.Builder, where instance, at addresses, oneByOne bool) {
	base := "http://" + at.helix[where]
	fmt.Fprintf(b, "\n[[source]]\nid = %q\nkind = \"helix\"\ninterval = \"5s\"\nurl = %s\nlist_url = %s\n",
		where.String(), quote(base+"/healthz/{session}"), quote(base+"/operator/sessions"))
	if oneByOne {
		b.WriteString("requests_per_second = 200 # demo: the server is on this machine\n")
	} else {
		fmt.Fprintf(b, "aggregate_url = %s\n", quote(base+"/operator/workspaces"))
	}
	fmt.Fprintf(b, "actions = [\"reset\"]\n[source.act]\nfile = %s\n[source.reset]\nurl = %s\n", quote(f.tokenPath()),
		quote(base+"/operator/sessions/{session}/workspaces/{workspace}/reset"))
}

// quote writes a basic string of TOML 1.0.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
