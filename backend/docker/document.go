package docker

import (
	"encoding/json"
	"slices"
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

// documentMasker masks secrets in the parts of an inspection, each by itself: the expressions that know secrets are slow on a
// whole document and fast on the many short texts that cannot hold any. Only Poll uses it.
type documentMasker struct {
	c     *backend.Cleaner
	names map[string]bool // whether a name says that its value is secret
}

// maxMasked is how much of one text is looked at, in bytes; the longest drawn one has maxRaw characters.
const maxMasked = 4 * maxRaw

// maxNames bounds the names that a masker remembers; labels are the same few on all containers.
const maxNames = 4096

// pair masks value, knowing under which name it stands: a name that says "secret" hides all of it.
func (m *documentMasker) pair(name, value string) string {
	if value == "" {
		return ""
	}
	name = name[:min(len(name), maxMasked)]
	secret, known := m.names[name]
	if !known {
		probe := name + "=abcdefgh"
		secret = m.c.Mask(probe) != probe
		if len(m.names) < maxNames {
			m.names[name] = secret
		}
	}
	if secret {
		return "‹masked›"
	}
	return m.text(value)
}

// text masks one text. What lies far behind the end of anything drawn is cut first, so that a huge one costs little.
func (m *documentMasker) text(s string) string {
	if len(s) > maxMasked {
		s = s[:maxMasked]
	}
	return m.c.Mask(s)
}

// args masks an argument vector, also where a flag and its value are two arguments.
func (m *documentMasker) args(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "=") {
			out[i] = m.pair(strings.TrimLeft(args[i-1], "-"), a)
			continue
		}
		out[i] = m.text(a)
	}
	return out
}

// document masks every text of an inspection and makes drawable text of it, at most limit characters.
func (m *documentMasker) document(d document, limit int) backend.Safe {
	for _, s := range []*string{&d.ID, &d.Name, &d.Image, &d.Created, &d.Path, &d.Driver, &d.Platform, &d.State.Status, &d.State.Error,
		&d.State.StartedAt, &d.State.FinishedAt, &d.HostConfig.RestartPolicy, &d.HostConfig.NetworkMode, &d.HostConfig.Runtime,
		&d.Config.Hostname, &d.Config.User, &d.Config.WorkingDir} {
		*s = m.text(*s)
	}
	d.Args, d.Config.Entrypoint, d.Config.Cmd = m.args(d.Args), m.args(d.Config.Entrypoint), m.args(d.Config.Cmd)
	d.Config.Healthcheck = m.args(d.Config.Healthcheck)
	d.Networks = m.args(d.Networks)
	labels := make(map[string]string, len(d.Config.Labels))
	for k, v := range d.Config.Labels {
		labels[m.text(k)] = m.pair(k, v)
	}
	d.Config.Labels = labels
	d.Mounts = slices.Clone(d.Mounts)
	for i := range d.Mounts {
		d.Mounts[i].Source, d.Mounts[i].Destination = m.text(d.Mounts[i].Source), m.text(d.Mounts[i].Destination)
	}
	if h := d.State.Health; h != nil {
		masked := docHealth{Status: m.text(h.Status), FailingStreak: h.FailingStreak, Log: slices.Clone(h.Log)}
		for i := range masked.Log {
			masked.Log[i].Output = m.text(masked.Log[i].Output)
		}
		d.State.Health = &masked
	}
	b, err := json.Marshal(d)
	if err != nil { // a probe's time beyond the year 9999
		return backend.Textf("the inspection cannot be written as JSON: %v", err)
	}
	return backend.Clean(string(b), limit)
}
