package cloudflare

import (
	"fmt"
	"strings"
	"testing"

	"sandglass/backend"
)

// TestRoutesThatContradictThemselves: an instance that two sandboxes name is told and belongs to neither; a row that names the instance
// of another sandbox takes it from none; pages that overlap contradict nothing.
func TestRoutesThatContradictThemselves(t *testing.T) {
	row := func(id, instance, state string) string {
		return fmt.Sprintf(`{"id":%q,"instance":%q,"class":"Agent","state":%q,"container":"one"}`, id, instance, state)
	}
	for name, x := range map[string]struct {
		rows     []string
		joined   map[string]string // container by sandbox
		says     string
		attached bool
	}{
		"well":              {[]string{row(boxA, runs, "healthy"), row(boxB, owned, "healthy")}, map[string]string{boxA: runs, boxB: owned}, "", true},
		"overlapping pages": {[]string{row(boxA, runs, "running"), row(boxB, owned, "healthy"), row(boxA, runs, "healthy")}, map[string]string{boxA: runs, boxB: owned}, "", true},
		"two of one":        {[]string{row(boxA, runs, "healthy"), row(boxB, runs, "healthy")}, nil, "the instance " + runs[:12] + " is named for 2 sandboxes: " + boxA + ", " + boxB, false},
		"one of two": {[]string{row(boxA, runs, "healthy"), row(boxB, owned, "healthy"), row(boxA, owned, "stopped")}, map[string]string{boxA: runs, boxB: owned},
			"the sandbox " + boxA + " is listed 2 times, with the instances " + runs[:12] + ", " + owned[:12] + "; " + runs[:12] + " is taken", true},
	} {
		w := withBridge(t, func(o *Options) { o.OpsPrefix = "/ops" })
		w.set("/ops/sandboxes", ok(`{"sandboxes":[`+strings.Join(x.rows, ",")+`]}`))
		r := w.poll()
		for id, instance := range x.joined {
			if b := sandboxOf(t, r, id); b.Container.Raw() != instance || b.Unattributed || b.Image.IsEmpty() {
				t.Errorf("%s: %s has container %v, image %v", name, id, b.Container, b.Image)
			}
		}
		if got := problems(r); strings.Contains(got, "operator routes: "+x.says) != (x.says != "") || strings.Contains(r.Degraded.String(), "contradict themselves") != (x.says != "") {
			t.Errorf("%s: degraded %q, problems %s", name, r.Degraded, got)
		}
		if !x.attached && !sandboxOf(t, r, runs).Unattributed {
			t.Errorf("%s: the instance belongs to a sandbox", name)
		}
		w.set("/ops/sandboxes", ok(`{"sandboxes":[`+row(boxA, runs, "healthy")+`]}`))
		if r = w.poll(); strings.Contains(problems(r), "operator routes: the") || sandboxOf(t, r, boxA).Container.Raw() != runs {
			t.Errorf("%s: corrected, and told all the same: %s", name, problems(r))
		}
	}
}

// TestRoutesAloneAreNotBelieved: what the operator routes alone call healthy is not known to run, whether the account lists no such instance
// or does not answer; what they call stopped is.
func TestRoutesAloneAreNotBelieved(t *testing.T) {
	const other = "00000000000000000000000000000000000000000000000000000000000000aa"
	for name, x := range map[string]struct {
		instance, state, doubt string
		silent                 bool
		class                  backend.SandboxClass
	}{
		"listed":       {runs, "healthy", "", false, backend.SandboxRunning},
		"not listed":   {other, "healthy", "the account lists no such instance", false, backend.SandboxUnknown},
		"starting":     {other, "running", "the account lists no such instance", false, backend.SandboxUnknown},
		"silent":       {other, "healthy", "the account's list was not read to its end", true, backend.SandboxUnknown},
		"stopped":      {other, "stopped", "", false, backend.SandboxExited},
		"not a known":  {other, "zorp", "", false, backend.SandboxUnknown},
		"no container": {"", "healthy", "the account lists no such instance", false, backend.SandboxUnknown},
	} {
		w := withBridge(t, func(o *Options) { o.OpsPrefix = "/ops" })
		w.set("/ops/sandboxes", ok(`{"sandboxes":[{"id":"`+boxA+`","instance":"`+x.instance+`","class":"Agent","state":"`+x.state+`"}]}`))
		if x.silent {
			w.set("/containers/applications/"+byObject+"/instances-v2", reply{status: 500, body: "{}"})
		}
		if b := sandboxOf(t, w.poll(), boxA); b.Class != x.class || b.Doubt.String() != x.doubt {
			t.Errorf("%s: %s, %q", name, b.Class, b.Doubt)
		}
	}
}
