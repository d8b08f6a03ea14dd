package workdir

import (
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
)

func TestAStoppedContainerRunsAgainAtOnceOrNever(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		state    container.ContainerState
		policy   container.RestartPolicyMode
		most     int
		exit     int
		restarts int
		ago      time.Duration
		want     bool
	}{
		{"just ended", Stopped, "always", 0, 1, 2, time.Second, true},
		{"its end is never written down", Stopped, "always", 0, 1, 2, 6 * time.Second, false},
		{"another word", "exited", "always", 0, 1, 2, time.Second, false},
		{"no policy", Stopped, "no", 0, 1, 2, time.Second, false},
		{"none named", Stopped, "", 0, 1, 2, time.Second, false},
		{"unless stopped", Stopped, "unless-stopped", 0, 0, 2, time.Second, true},
		{"a failure", Stopped, "on-failure", 0, 1, 2, time.Second, true},
		{"no failure", Stopped, "on-failure", 0, 0, 2, time.Second, false},
		{"its last try", Stopped, "on-failure", 2, 1, 2, time.Second, false},
	} {
		in := container.InspectResponse{RestartCount: c.restarts,
			State:      &container.State{Status: c.state, ExitCode: c.exit, FinishedAt: now.Add(-c.ago).Format(time.RFC3339Nano)},
			HostConfig: &container.HostConfig{RestartPolicy: container.RestartPolicy{Name: c.policy, MaximumRetryCount: c.most}}}
		if got := RunsAgain(in, now); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
		if got := RunsAgain(in, time.Time{}); c.want && !got {
			t.Errorf("%s: without a clock it is said to be over", c.name)
		}
	}
}
