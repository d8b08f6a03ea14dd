package sandbox

import (
	"strings"
	"testing"
)

// TestWhatASaveLeavesOut: by the command of the newest one, as the agent's SDK writes and quotes it.
func TestWhatASaveLeavesOut(t *testing.T) {
	const end = ` -C /workspace -cf /tmp/bl-persist-0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d.tar .`
	for want, command := range map[string]string{
		"":                    `sh -c 'tar` + end + `'`,
		"./cache|./node/deps": `env A=b sh -c 'tar --exclude=cache --exclude=./cache --exclude=node/deps --exclude=./node/deps` + end + `'`,
		"./my dir":            `sh -c 'tar --exclude='"'"'my dir'"'"' --exclude='"'"'./my dir'"'"'` + end + `'`,
		"./a":                 `tar --exclude=a --exclude=./a` + end,
	} {
		all := []Process{{Command: "tar --exclude=./x -C / -cf /tmp/mine.tar ."}, {Command: command}, {Command: `tar --exclude=old --exclude=./old` + end}}
		if got := LeftOut(all); strings.Join(got, "|") != want {
			t.Errorf("%s: %q", command, got)
		}
	}
}
