package subjects

import (
	"testing"
)

// Beside its alert a diagnosis does not say again what the cause or the scope says.
func TestADiagnosisDoesNotRepeatItsAlert(t *testing.T) {
	const frozen = "Its main process is frozen. helix-repo-1: the main process is frozen: all of its threads are in uninterruptible sleep for at least 2m (1 thread: none has run since 2026-03-01T11:58:00Z)."
	for _, c := range []struct{ conclusion, known, want string }{
		{"Its container could not start. box-1 could not start: exec: \"/bin/agent\": stat /bin/agent: no such file or directory.",
			"helix-eu lists its workspace as open, but its container could not start: exec: \"/bin/agent\": stat /bin/agent: no such file or directory sandbox box-1 on docker", "Its container could not start."},
		{"Its working directory is missing. box-1: its health check cannot begin in /workspace.", "reported running, but its working directory is missing sandbox box-1 on docker",
			"Its working directory is missing. Its health check cannot begin in /workspace."},
		{frozen, "reported running, but its main process is frozen sandbox helix-repo-1 on docker",
			"Its main process is frozen. All of its threads are in uninterruptible sleep for at least 2m (1 thread: none has run since 11:58:00Z)."},
		{"Object storage does not answer.", "connect timeout", "Object storage does not answer."},
	} {
		if got := concise(c.conclusion, c.known, noon); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}
