package docker

import (
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/demo"
)

// The demo's engine is written from the published format and not from this package: acting on it tries both.
func TestActsOnTheDemo(t *testing.T) {
	d, err := demo.Start(t.Context(), demo.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	y := &engineFixture{&enginetest.Engine{T: t, Host: demoHost(t, d)}, "sandglass.session"}
	p := y.place()
	var missing, dangling, steady, ended, paused string
	for b := range p.state().Sandboxes.All() {
		id := b.Key.ID.Raw()
		health, checked := b.Health.Get()
		switch {
		case !b.IsSandbox:
			p.refused(actions.Destroy, id, "it is not a sandbox")
		case b.Class == backend.SandboxExited:
			ended = id
		case b.Class == backend.SandboxPaused:
			paused = id
		case b.Class == backend.SandboxRunning && !checked && len(b.Mounts) == 0:
			steady = id
		case checked && health.String() == "unhealthy" && strings.Contains(b.HealthOutput.String(), "chdir to cwd"):
			if strings.Contains(joined(p.look(actions.Repair, id).Notes), "is a link to /srv/workspace, which is missing") {
				dangling = id
			} else {
				missing = id
			}
		}
	}
	for id, says := range map[string]string{missing: "the working directory /workspace is missing", dangling: "the working directory /workspace leads to /srv/workspace, which is missing"} {
		if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), says) {
			t.Errorf("probe: %+v", done)
		}
		wantSteps(t, p.must(actions.Repair, id), "exec ok, filesystem list ok, filesystem read not tried, queue not tried, driver not tried")
		p.must(actions.Probe, id)
	}
	p.refused(actions.Repair, missing, "/workspace is there")
	p.refused(actions.Repair, dangling, "a working link is never replaced")
	wantSteps(t, p.must(actions.Resume, paused), "exec ok, filesystem list ok, filesystem read ok, queue not tried, driver not tried")
	p.must(actions.Pause, steady)
	p.must(actions.Stop, steady)
	p.must(actions.Destroy, steady)
	p.must(actions.Destroy, ended)
}

// wantSteps compares the planes that were verified after an order, each for itself, with what is wanted.
func wantSteps(t *testing.T, done actions.Done, want string) {
	t.Helper()
	var got []string
	for _, s := range done.Steps {
		got = append(got, s.Name.String()+" "+string(s.Result))
	}
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("verified: %s, want %s", text, want)
	}
	if o := (backend.Observation{Verdicts: done.Observed}); !o.Works() {
		t.Errorf("observed: %s", o.What())
	}
}

// demoHost is the address of the demo's engine, from the demo's configuration.
func demoHost(t *testing.T, d *demo.Demo) string {
	t.Helper()
	_, rest, _ := strings.Cut(d.Config(), `host = "`)
	host, _, found := strings.Cut(rest, `"`)
	if !found || !strings.HasPrefix(host, "unix://") {
		t.Fatalf("no engine in the demo's configuration:\n%s", d.Config())
	}
	return host
}
