package backend

import "testing"

// TestSameCommand: an agent's log gives a command as a list or a text, the sandbox's server as it ran, with the environment before it.
func TestSameCommand(t *testing.T) {
	for _, c := range []struct {
		log, ran string
		want     bool
	}{
		{"python train.py", "env API_KEY=x python train.py", true},
		{"python train.py", "env API_KEY=" + masked + " B='c d' python train.py", true},
		{"sh -lc 'make test'", `env A=b sh -lc "make test"`, true},
		{"make test", "env A=b sh -lc 'make test'", true},
		{"python train.py", "cd /workspace && python train.py", true},
		{"python train.py", "python ka.py", false},
		{"python train.py", "python train.py --fast", false},
		{"ls", "cat ls", false},
		{"curl -H " + masked + " x", "curl -H Bearer x", true},
		{"env", "env A=b python x", false},
		{"", "", false},
	} {
		if got := SameCommand(CommandOf(c.log), CommandOf(c.ran)); got != c.want {
			t.Errorf("%q and %q: %v", c.log, c.ran, got)
		}
	}
}
