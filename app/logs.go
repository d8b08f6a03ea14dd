package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/logstream"
	"sandglass/ui"
	"sandglass/views"
	"sandglass/views/subjects"
)

const (
	// mostLogs is how many logs are read at once.
	mostLogs = 16
	// logTail is how many lines of its past each log begins with.
	logTail = 2000
	// logsDir is the directory of saved log lines in the state directory.
	logsDir = "logs"
)

// LogsOf names what there is to read about a subject: of a sandbox its own log, of a session, workspace or alert those of its
// sandboxes, and of all of them the lines of the configured logs that name one.
func (s *Station) LogsOf(key backend.Key) backend.LogSet {
	state, board := s.Alerts.Latest()
	if state == nil || board == nil {
		return backend.LogSet{Lacking: []backend.Safe{backend.Text("nothing was read yet: try again in a moment")}}
	}
	g := &logGathering{station: s, state: board.Shown(state), snapshot: views.NewSnapshot(s.app.Now(), state, board), seen: map[backend.Key]bool{}}
	g.subject(key, board)
	g.shared(key)
	return g.result()
}

// mostAsked is how many subjects of an alert are looked at for a log.
const mostAsked = 100

// hasLogs reports whether LogsOf may find a log: it is asked for each row that the cursor comes to.
func (s *Station) hasLogs(key backend.Key) bool {
	state, board := s.Alerts.Latest()
	if state == nil || board == nil {
		return false
	}
	of := []backend.Key{key}
	if key.Kind == views.KindAlert {
		of = nil
		for _, a := range board.Alerts {
			if views.AlertKey(a) == key {
				for _, x := range a.Subjects[:min(len(a.Subjects), mostAsked)] {
					if x.Key.Kind != backend.KindSource { // an alert about a source names nothing in lines
						of = append(of, x.Key)
					}
				}
			}
		}
	}
	for i := range s.Sources {
		src := &s.Sources[i]
		if _, is := src.Source.(backend.LogSource); is && slices.ContainsFunc(of, func(k backend.Key) bool { return mayHold(src, k, state) }) {
			return true
		}
	}
	return false
}

// mayHold reports whether a source that has logs may have one about a subject.
func mayHold(src *Source, k backend.Key, state *fleet.State) bool {
	switch {
	case src.Config.Kind == "logs":
		return k.Kind != backend.KindSource || k.Source == src.ID()
	case k.Kind == backend.KindSandbox:
		return k.Source == src.ID()
	}
	session := k.ID
	if k.Kind == backend.KindWorkspace {
		session = k.Parent
	}
	return (k.Kind == backend.KindSession || k.Kind == backend.KindWorkspace) &&
		slices.ContainsFunc(state.BoxesOf(session), func(b *backend.Sandbox) bool { return b.Key.Source == src.ID() })
}

// logGathering collects the logs about one subject.
type logGathering struct {
	station  *Station
	state    *fleet.State
	snapshot *views.Snapshot
	seen     map[backend.Key]bool
	names    [][]string
	set      backend.LogSet
	more     int // logs beyond mostLogs
}

func (g *logGathering) lack(why backend.Safe) {
	for _, known := range g.set.Lacking {
		if known == why {
			return
		}
	}
	g.set.Lacking = append(g.set.Lacking, why)
}

func (g *logGathering) add(logs ...backend.Log) {
	room := max(mostLogs-len(g.set.Logs), 0)
	g.set.Logs = append(g.set.Logs, logs[:min(len(logs), room)]...)
	g.more += max(len(logs)-room, 0)
}

// subject adds what is a subject's own.
func (g *logGathering) subject(key backend.Key, board *alerts.Board) {
	if g.seen[key] {
		return
	}
	g.seen[key] = true
	switch kind := key.Kind; {
	case kind == views.KindAlert:
		for _, a := range board.Alerts {
			if views.AlertKey(a) != key {
				continue
			}
			for i := range a.Subjects {
				g.subject(a.Subjects[i].Key, board)
			}
		}
	case kind == backend.KindSandbox:
		g.sandbox(g.state.Sandbox(key), key)
	case kind == backend.KindSession:
		g.names = append(g.names, []string{key.ID.Raw()})
		for _, b := range g.state.BoxesOf(key.ID) {
			g.subject(b.Key, board)
		}
	case kind == backend.KindWorkspace:
		g.workspace(key, board)
	case kind != backend.KindSource:
		g.names = append(g.names, []string{key.ID.Raw()})
	}
}

func (g *logGathering) workspace(key backend.Key, board *alerts.Board) {
	names := []string{key.Parent.Raw()}
	if w := g.state.Workspace(key); w == nil || w.Named {
		names = append(names, key.ID.Raw())
	}
	g.names = append(g.names, names)
	for _, b := range g.state.BoxesOf(key.Parent) {
		if b.Workspace.IsZero() || b.Workspace == key.ID {
			g.subject(b.Key, board)
		}
	}
}

// sandbox adds a sandbox's own log, or says why it has none.
func (g *logGathering) sandbox(b *backend.Sandbox, key backend.Key) {
	title := subjects.NameOf(key, g.snapshot)
	for _, n := range namesInLogs(b, key) {
		g.names = append(g.names, []string{n})
	}
	for _, src := range g.station.Sources {
		if src.ID() != key.Source {
			continue
		}
		switch x := src.Source.(type) {
		case backend.LogSource:
			g.add(x.LogsOf(backend.LogAbout{Key: key, Title: title})...)
		case backend.Logless:
			g.lack(backend.Textf("%s: %s", backend.Clean(src.ID(), 80), x.WithoutLogs()))
		default:
			g.lack(backend.Textf("%s: Sandglass reads no logs of sources of the kind %s", backend.Clean(src.ID(), 80), backend.Clean(src.Config.Kind, 40)))
		}
	}
}

// namesInLogs are what lines of a log call a sandbox; b is nil where it is not listed.
func namesInLogs(b *backend.Sandbox, key backend.Key) []string {
	id := key.ID.Raw()
	out := []string{id}
	if len(id) == 64 {
		out = append(out, id[:12]) // as engines print a container's id
	}
	if b == nil {
		return out
	}
	name := b.Name.String()
	if len(name) > 3 && name != id {
		out = append(out, name)
	}
	if b.Provider.String() == "cloudflare" { // its agents' SDK writes the session that it makes for it
		out = append(out, backend.SessionPrefix+id)
		if name != "" && name != id {
			out = append(out, backend.SessionPrefix+name)
		}
	}
	return out
}

// shared adds the configured logs, of whose lines those count that name a subject; of a source of logs, all.
func (g *logGathering) shared(key backend.Key) {
	about := backend.LogAbout{Key: key, Names: g.names[:min(len(g.names), mostNames)]}
	if len(g.names) > mostNames {
		g.lack(backend.Textf("of %d names, lines with the first %d are looked for", len(g.names), mostNames))
	}
	for _, src := range g.station.Sources {
		if x, ok := src.Source.(backend.LogSource); ok && src.Config.Kind == "logs" {
			if key.Kind == backend.KindSource {
				if src.ID() == key.Source {
					g.add(x.LogsOf(backend.LogAbout{Key: key})...)
				}
			} else if len(about.Names) > 0 {
				g.add(x.LogsOf(about)...)
			}
		}
	}
}

// mostNames is how many names are looked for in a line.
const mostNames = 50

func (g *logGathering) result() backend.LogSet {
	if g.more > 0 {
		g.lack(backend.Textf("%d more logs are not read: at most %d at once; open a single sandbox", g.more, mostLogs))
	}
	if len(g.set.Logs) == 0 && len(g.set.Lacking) == 0 {
		g.lack(backend.Text("no source has a log of it: a source of the kind logs reads files, commands and containers (docs/configuration.md)"))
	}
	return g.set
}

// FollowLogs reads logs into a sink until ctx ends, or without follow until they end. It returns then.
func (s *Station) FollowLogs(ctx context.Context, logs []backend.Log, q backend.LogQuery, to logstream.Sink) {
	logstream.Run(ctx, logs, logstream.Options{Spawn: s.app.Spawn, Query: q}, to)
}

// logs is how a viewer of this Station reads them. A local one has a pager.
func (s *Station) logs(local bool) ui.Logs {
	l := ui.Logs{Of: s.LogsOf, Has: s.hasLogs, Cleaner: s.app.Cleaner,
		Follow: func(ctx context.Context, logs []backend.Log, to logstream.Sink) {
			s.app.Spawn.Go("logs", func() { s.FollowLogs(ctx, logs, backend.LogQuery{Tail: logTail, Follow: true}, to) })
		}}
	if s.StateDir == "" || s.ReadOnly {
		return l
	}
	l.Save, l.Remove = s.saveLog, func(path string) { _ = os.Remove(path) } // a file that stays is private
	if local {
		l.Pager = s.app.pager
	}
	return l
}

// saveLog writes a new private file of log lines.
func (s *Station) saveLog(name string, write func(io.Writer) error) (string, error) {
	dir := filepath.Join(s.StateDir, logsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	base := logFileName(name) + "-" + s.app.Now().UTC().Format("20060102T150405Z")
	for i := range 100 {
		path := filepath.Join(dir, base+".log")
		if i > 0 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.log", base, i))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err = errors.Join(write(f), f.Close()); err != nil {
			_ = os.Remove(path) // half a log would look like a whole one
			return "", err
		}
		return path, nil
	}
	return "", fmt.Errorf("%s.log is there already", filepath.Join(dir, base))
}

// logFileName is a name with what may stand in the name of a file.
func logFileName(name string) string {
	out := bytes.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, []byte(name))
	return strings.TrimLeft(string(out[:min(len(out), 80)]), ".")
}

// pagerEnds is how long a pager that is asked to end has for it.
const pagerEnds = time.Second

// pager is the command of $PAGER on this process's terminal; without one, less or what the system brings. It ends with ctx: asked
// to, so that it leaves the terminal as it found it, and then by force.
func (a *App) pager(ctx context.Context, path string) *exec.Cmd {
	var cmd *exec.Cmd
	switch named := a.Getenv("PAGER"); {
	case runtime.GOOS == "windows":
		cmd = exec.CommandContext(ctx, "cmd", "/c", "more", path)
	case strings.TrimSpace(named) != "":
		cmd = exec.CommandContext(ctx, "sh", "-c", named+` "$1"`, "pager", path)
	default:
		cmd = exec.CommandContext(ctx, "sh", "-c", `if command -v less >/dev/null; then exec less -S +G -- "$1"; fi; exec more "$1"`, "pager", path)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if runtime.GOOS != "windows" {
		cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, pagerEnds
	}
	return cmd
}
