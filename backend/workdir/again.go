package workdir

import (
	"time"

	"github.com/moby/moby/api/types/container"
)

// Stopped is Podman's word for a run that ended and whose end is not written down. Now and then it stays for ever.
const Stopped container.ContainerState = "stopped"

// againWithin is how soon after the end of a run Podman begins the next one: it knows no back-off.
const againWithin = 5 * time.Second

// RunsAgain reports whether Podman is about to begin another run of a container that it calls "stopped". now is the time of
// its clock, zero where that is not known.
func RunsAgain(c container.InspectResponse, now time.Time) bool {
	if c.State.Status != Stopped {
		return false
	}
	switch p := c.HostConfig.RestartPolicy; p.Name {
	case "", container.RestartPolicyDisabled:
		return false
	case container.RestartPolicyOnFailure:
		if c.State.ExitCode == 0 || p.MaximumRetryCount > 0 && c.RestartCount >= p.MaximumRetryCount {
			return false
		}
	case container.RestartPolicyAlways, container.RestartPolicyUnlessStopped:
	}
	ended, err := time.Parse(time.RFC3339Nano, c.State.FinishedAt)
	return err != nil || now.IsZero() || now.Sub(ended) < againWithin
}
