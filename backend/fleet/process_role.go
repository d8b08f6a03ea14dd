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
	archiveGone = regexp.MustCompile(`\brm -f -- '?/tmp/bl-(?:persist|hydrate)-`)
	// unnamed is a name that the server inside a sandbox gave: the agent's SDK names none of its commands.
	unnamed = regexp.MustCompile(`^proc-[0-9A-Za-z]{8}$`)
)

// ProcessRole is what a process in a sandbox is to the agent's SDK, by its name and command.
type ProcessRole struct {
	// What says it, and Late that it runs past the time for which the agent waits: only that wait ended. Both are empty where
	// nothing tells.
	What, Late backend.Safe
	// GaveUp is when an agent that waited for it since its start gave up, by our clock: when its log says so, else when its time was
	// over, which is Due. Zero: nothing says that it did, or it is not over.
	GaveUp, Due time.Time
	// Snapshot says that it saves or restores the files of a session, Named that somebody gave it a name, which the SDK does
	// not: whether an agent waited for it is not known then.
	Snapshot, Named bool
	// Starts is since when a command of a session's start is late, for which the SDK has no limit of its own; zero: it is none, or not late.
	Starts time.Time
	// Told is when the log of its agent has an error of a command, zero: it has none. Sure says that the line names this very
	// command; else it names none, and stands near GaveUp.
	Told time.Time
	Sure bool
}

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
		limit, r.Snapshot, r.What = backend.AgentTar, true, backend.Text("the save of a session's files")
		if m[1] == "hydrate" {
			r.What = backend.Text("the restore of a session's files")
		}
		if id := s.SessionOfDigits(m[2]); !id.IsZero() {
			r.What = backend.Textf("%s, %s", r.What, id.Safe())
		}
	case archiveGone.MatchString(command):
		limit, r.What = backend.AgentCleanup, backend.Text("the removal of an archive")
	case ptyName.MatchString(p.Name.String()):
		r.What = backend.Text("a terminal of the agent")
		return r
	case strings.HasSuffix(strings.ReplaceAll(command, "'", ""), "mkdir -p "+root):
		limit, r.What = "", backend.Text("the start of a session")
	default:
		r.Named = !p.Name.IsEmpty() && !unnamed.MatchString(p.Name.String())
	}
	if made := b.CreatedAt.Or(time.Time{}); !p.StartedAt.IsZero() && p.StartedAt.Add(giveUpSlack).Before(made) && p.Class == backend.WorkRunning {
		r.Late = backend.Text("it cannot have begun before its sandbox was made: its server's clock has another zone, so how long it runs is not known")
		return r
	}
	if p.Class != backend.WorkRunning || p.StartedAt.IsZero() {
		return r
	}
	if limit == "" {
		if ran := read.Sub(p.StartedAt); ran > state.Timeout(backend.AgentExec) {
			r.Starts = p.StartedAt.Add(state.Timeout(backend.AgentExec))
			r.Late = backend.Textf("it runs for %s: the SDK has no limit of its own for it, so that whether its agent still waits is not known", backend.Age(ran))
		}
		return r
	}
	waits := state.Timeout(limit)
	if end := p.StartedAt.Add(waits); waits > 0 && read.After(end) {
		r.GaveUp, r.Due = end, end
		r.Late = backend.Textf("it runs past %s of %s: an agent that waited for it gave up at %s, the process did not", limit, backend.Age(waits), end.UTC().Format("15:04:05Z"))
	}
	s.told(&r, s.SessionOn(b), p, read)
	return r
}
