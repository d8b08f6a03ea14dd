package fleet

import (
	"regexp"
	"strings"
	"time"

	"sandglass/backend"
)

var (
	ptyName     = regexp.MustCompile(`^pty-[0-9a-f]{12}$`)
	archiveMade = regexp.MustCompile(`\btar\b.*/tmp/bl-(persist|hydrate)-([0-9a-f]{12,40})`)
)

// ProcessRole is what a process in a sandbox is to the agent's SDK, by its name and command. Late says that it runs past the time for
// which the agent waits: only that wait ended. Both are empty where nothing tells.
type ProcessRole struct{ What, Late backend.Safe }

// giveUpSlack is by how much the line of a timeout may differ from the time at which an agent gives up.
const giveUpSlack = time.Minute

// RoleOf says what a process that was read at a time is to the agent of a sandbox.
func (s *State) RoleOf(b *backend.Sandbox, p *backend.SandboxProcess, read time.Time) (r ProcessRole) {
	var state *backend.AgentState
	root := "/workspace"
	if ref := s.StateNaming(b); ref != nil {
		state, root = ref.Agent, ref.Agent.Root.String()
	} else if agentDigits(b.Name.String()) == "" {
		return r // nothing says that an agent SDK uses it
	}
	command, limit := p.Command.String(), backend.AgentExec
	switch m := archiveMade.FindStringSubmatch(command); {
	case m != nil:
		limit, r.What = backend.AgentTar, backend.Text("the save of a session's files")
		if m[1] == "hydrate" {
			r.What = backend.Text("the restore of a session's files")
		}
		if id := s.SessionOfDigits(m[2]); !id.IsZero() {
			r.What = backend.Textf("%s, %s", r.What, id.Safe())
		}
	case ptyName.MatchString(p.Name.String()):
		r.What = backend.Text("a terminal of the agent")
		return r
	case strings.HasSuffix(strings.ReplaceAll(command, "'", ""), "mkdir -p "+root):
		r.What = backend.Text("the start of a session")
	}
	waits := state.Timeout(limit)
	end := p.StartedAt.Add(waits)
	if p.Class != backend.WorkRunning || p.StartedAt.IsZero() || waits <= 0 || !read.After(end) {
		return r
	}
	r.Late = backend.Textf("it runs past %s of %s: an agent that waited for it gave up at %s, the process did not", limit, backend.Age(waits), end.UTC().Format("15:04:05Z"))
	for series := range s.Windows.All(backend.MetricSDKExec) {
		for at, n := range s.Windows.Counts(series) {
			if n > 0 && series.Session == s.SessionOn(b) && at.Sub(end).Abs() < giveUpSlack {
				r.Late = backend.Textf("%s; its log has an error of a command then", r.Late)
				return r
			}
		}
	}
	return r
}
