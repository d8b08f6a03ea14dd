package docker

import (
	"encoding/json"
	"strings"
	"time"

	"sandglass/backend"
)

// document is the part of an inspect answer that the details view shows. It is a list of what is shown, not of what
// is left out, so that an environment cannot get into it by any new field.
type document struct {
	ID           string `json:"Id"`
	Name         string
	Image        string
	Created      string
	Path         string
	Args         []string `json:",omitempty"`
	State        docState
	RestartCount int
	Driver       string
	Platform     string
	HostConfig   docHost
	Config       docConfig
	Mounts       []docMount `json:",omitempty"`
	Networks     []string   `json:",omitempty"`
}

type docState struct {
	Status     string
	Pid        int
	ExitCode   int
	OOMKilled  bool
	Error      string `json:",omitempty"`
	StartedAt  string
	FinishedAt string
	Health     *docHealth `json:",omitempty"`
}

type docHealth struct {
	Status        string
	FailingStreak int
	Log           []docProbe `json:",omitempty"`
}

type docProbe struct {
	Start    time.Time
	End      time.Time
	ExitCode int
	Output   string
}

type docHost struct {
	RestartPolicy  string
	AutoRemove     bool
	NetworkMode    string
	Memory         int64
	NanoCpus       int64
	PidsLimit      int64
	Privileged     bool
	ReadonlyRootfs bool
	Runtime        string
}

type docConfig struct {
	Hostname    string
	User        string
	WorkingDir  string            `json:",omitempty"`
	Entrypoint  []string          `json:",omitempty"`
	Cmd         []string          `json:",omitempty"`
	Healthcheck []string          `json:",omitempty"`
	Labels      map[string]string `json:",omitempty"`
}

type docMount struct {
	Type, Source, Destination string
	RW                        bool
}

// safe masks secrets in the document and makes drawable text of it, at most limit characters.
func (d document) safe(c *backend.Cleaner, limit int) backend.Safe {
	d.Args = maskArgs(c, d.Args)
	d.Config.Entrypoint = maskArgs(c, d.Config.Entrypoint)
	d.Config.Cmd = maskArgs(c, d.Config.Cmd)
	d.Config.Healthcheck = maskArgs(c, d.Config.Healthcheck)
	labels := make(map[string]string, len(d.Config.Labels))
	for k, v := range d.Config.Labels {
		labels[c.Mask(k)] = maskPair(c, k, v)
	}
	d.Config.Labels = labels
	b, err := json.Marshal(d)
	if err != nil { // strings, numbers and times of the years that parse: cannot happen
		return backend.Textf("the inspect answer cannot be written as JSON: %v", err)
	}
	return c.Clean(string(b), limit)
}

// maskPair masks value, knowing under which name it stands: a name that says "secret" hides all of it.
func maskPair(c *backend.Cleaner, name, value string) string {
	probe := name + "=abcdefgh"
	if value != "" && c.Mask(probe) != probe {
		return "‹masked›"
	}
	return c.Mask(value)
}

// maskArgs masks secrets in an argument vector, also where a flag and its value are two arguments.
func maskArgs(c *backend.Cleaner, args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = c.Mask(a)
		if i == 0 || !strings.HasPrefix(args[i-1], "-") || strings.Contains(args[i-1], "=") {
			continue
		}
		out[i] = maskPair(c, strings.TrimLeft(args[i-1], "-"), a)
	}
	return out
}
