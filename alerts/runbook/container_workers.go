package runbook

import (
	"strings"

	"sandglass/backend"
)

// adviseWorkersContainer replaces the steps of a container engine, of which no command reaches a container behind a Worker.
func (s *subjectView) adviseWorkersContainer(d *Diagnosis, led string, b *backend.Sandbox) {
	if !s.ofWorkers() {
		return
	}
	for i := range d.Checks { // no engine is to be asked
		c := &d.Checks[i]
		switch {
		case c.WouldTell.IsEmpty(), c.Name == AlertCheck:
		case c.Name == "memory":
			c.WouldTell = backend.Text("its memory in the platform's analytics")
		case strings.Contains(c.WouldTell.String(), "engine"), c.Name == "unhealthy", strings.Contains(c.WouldTell.String(), "restart count"):
			c.WouldTell = backend.Text("its state and log at the platform")
		}
	}
	log := backend.Text("Read its log: wrangler tail, or the logs of its application in Cloudflare's dashboard.")
	switch led {
	case "ended", "memory", "near":
		d.Conclusion = backend.Clean(strings.Replace(d.Conclusion.String(), "It ended by itself with an error", "Its platform reports that it failed", 1), 600)
		d.Do = []backend.Safe{log}
		if led != "ended" || b.ExitCode.Or(0) == 137 {
			d.Do = append(d.Do, backend.Text("Look at its memory: exit code 137 can mean that it ran out. Take a larger instance_type in the Wrangler configuration."))
		}
		d.Dont = []backend.Safe{backend.Text("Don't count on its files: its next start is on an empty disk.")}
	case "unhealthy":
		d.Do = []backend.Safe{log}
		if !b.BridgeID.IsZero() && s.State.NoProbe(b).IsEmpty() {
			d.Do = append(d.Do, backend.Text("Probe it: sandglass probe NAME"))
		}
	}
}

// adviseFailedSandbox replaces the steps of a container engine for a sandbox of an agent's cloud that failed: nothing starts that
// again, and its platform replaces it when one of its name is created (api-reference/controlplane.yml of blaxel-ai/docs).
func (s *subjectView) adviseFailedSandbox(d *Diagnosis, led string) {
	if led != "start" || s.platform() != agentCloud {
		return
	}
	d.Conclusion = backend.Clean(strings.Replace(d.Conclusion.String(), "The engine reports an error at the start", "Its platform reports that it failed", 1), 600)
	d.Do = []backend.Safe{backend.Text("Read the error: a failure of the platform is nothing to correct in the sandbox. See the platform's status page."),
		backend.Text("Let the session open it again: the platform replaces a failed sandbox by a new one of the same name.")}
	d.Dont = []backend.Safe{backend.Text("Don't count on its files: the new one has none of them, except in mounts.")}
}
