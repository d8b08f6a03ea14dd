package helix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/backend/wire"
)

const (
	maxSessionList = 16 << 20 // bytes of a file or a command's output
	commandEvery   = 30 * time.Second
	pagesPerPoll   = 4 // longer lists are read less often, so that they do not eat the budget
)

// discovery is how the sessions of the per-session mode are found.
type discovery struct {
	fixed []backend.ID

	file     []backend.ID
	fileInfo os.FileInfo

	command     []backend.ID
	commandNext time.Time

	current  *pageWalk // in progress
	listNext time.Time
	listed   bool // the list route was read to its end at least once
	listErr  error
	onList   map[backend.ID]bool
	bad      []error // entries of the list without a usable id
}

// static takes the fixed list from the configuration.
func (s *Source) static() error {
	for _, raw := range s.opt.Sessions {
		id, err := backend.NewID(raw)
		if err != nil {
			return err
		}
		s.discovery.fixed = append(s.discovery.fixed, id)
	}
	s.adopt()
	return nil
}

// discover brings the list of sessions up to date. complete is true when every place that names sessions was read to
// its end in this poll, so that absence says something.
func (s *Source) discover(ctx, slice context.Context, r *backend.Reading) (complete bool, err error) {
	complete = true
	var failures []error
	if s.opt.SessionsFile != "" {
		if err := s.readFile(); err != nil {
			complete, failures = false, append(failures, err)
		}
	}
	if len(s.opt.SessionsCommand) > 0 {
		ran, err := s.runCommand(ctx)
		if complete = complete && ran; err != nil {
			failures = append(failures, err)
		}
	}
	if s.opt.ListURL != "" {
		done, err := s.readList(ctx, slice, r)
		if complete = complete && done; err != nil {
			failures = append(failures, err)
		}
	}
	for _, err := range failures {
		s.problemErr(r, backend.Key{}, err)
	}
	s.mu.Lock()
	s.adopt()
	known := len(s.sessions)
	s.mu.Unlock()
	if known == 0 && len(failures) > 0 {
		return false, failures[0]
	}
	return complete, nil
}

// adopt makes the tracked sessions those that some place names. The caller holds the lock, or is the constructor.
func (s *Source) adopt() {
	named := make(map[backend.ID]bool, len(s.sessions))
	for _, ids := range [][]backend.ID{s.discovery.fixed, s.discovery.file, s.discovery.command} {
		for _, id := range ids {
			named[id] = true
		}
	}
	for id := range s.discovery.onList {
		named[id] = true
	}
	for id := range named {
		if t := s.lost[id]; t != nil && s.sessions[id] == nil {
			s.sessions[id], t.unlisted, t.gradual = t, false, false
			t.atOnce = false
			delete(s.lost, id)
		}
		if s.sessions[id] == nil {
			s.sessions[id] = &tracked{id: id, key: backend.Key{Kind: backend.KindSession, Source: s.deps.ID, ID: id}}
		}
	}
	before, gone := len(s.sessions), []*tracked(nil)
	for id, t := range s.sessions {
		if !named[id] {
			gone = append(gone, t)
			delete(s.sessions, id)
		}
	}
	s.lose(before, gone)
}

// readFile reads the file of ids when it changed.
func (s *Source) readFile() error {
	f, info, err := hostfs.OpenRegular(s.opt.SessionsFile)
	if errors.Is(err, hostfs.ErrNotRegular) {
		return backend.Errorf(backend.ErrInvalid, s.opt.SessionsFile, "the list of sessions is %w", err)
	}
	if err != nil {
		return backend.Errorf(backend.ErrUnreachable, s.opt.SessionsFile, "the list of sessions cannot be read: %w", err)
	}
	defer f.Close()
	if old := s.discovery.fileInfo; old != nil && os.SameFile(old, info) && old.ModTime().Equal(info.ModTime()) && old.Size() == info.Size() {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSessionList+1))
	if err != nil {
		return backend.Errorf(backend.ErrUnreachable, s.opt.SessionsFile, "the list of sessions cannot be read: %w", err)
	}
	ids, err := parseIDs(b)
	if err != nil {
		return at(s.opt.SessionsFile, err)
	}
	s.discovery.file, s.discovery.fileInfo = ids, info
	return nil
}

// runCommand asks the command for ids; ran is false when it was not due or failed.
func (s *Source) runCommand(ctx context.Context) (ran bool, err error) {
	now := s.deps.Now()
	if now.Before(s.discovery.commandNext) {
		return false, nil
	}
	s.discovery.commandNext = now.Add(commandEvery)
	ctx, cancel := context.WithTimeout(ctx, max(s.deps.Deadline, time.Second))
	defer cancel()
	name := "command " + s.opt.SessionsCommand[0]
	if s.deps.Command == nil {
		return false, backend.Errorf(backend.ErrInvalid, name, "commands are not available here")
	}
	cmd := s.deps.Command(ctx, s.opt.SessionsCommand)
	var out capped
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	sending := s.deps.SendingCommand(false, s.opt.SessionsCommand)
	err = cmd.Run()
	sending.Exited(cmd, len(out.b), err)
	if err != nil {
		return false, backend.Errorf(backend.ErrUnreachable, name, "the list of sessions cannot be read: %w", err)
	}
	ids, err := parseIDs(out.b)
	if err != nil {
		return false, at(name, err)
	}
	s.discovery.command = ids
	return true, nil
}

// capped fails the write that goes beyond the bound, which ends the command.
type capped struct{ b []byte }

func (c *capped) Write(p []byte) (int, error) {
	if len(c.b)+len(p) > maxSessionList {
		return 0, errors.New("the output is larger than 16 MiB")
	}
	c.b = append(c.b, p...)
	return len(p), nil
}

// parseIDs reads one id a line, or a JSON array of strings.
func parseIDs(b []byte) ([]backend.ID, error) {
	if len(b) > maxSessionList {
		return nil, backend.Errorf(backend.ErrInvalid, "", "larger than 16 MiB")
	}
	var out []backend.ID
	add := func(raw string) error {
		id, err := backend.NewID(raw)
		if err != nil {
			return err
		}
		if len(out) >= maxSessions {
			return fmt.Errorf("more than %d sessions", maxSessions)
		}
		out = append(out, id)
		return nil
	}
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && trimmed[0] == '[' {
		doc, err := wire.Parse(b)
		if err != nil {
			return nil, err
		}
		for n := range doc.Root().Elements() {
			text, ok := n.Text()
			if !ok {
				return nil, n.Invalid("want a session id as a string")
			}
			if err := add(text); err != nil {
				return nil, n.Invalid("%v", err)
			}
		}
		return out, nil
	}
	line := 0
	for text := range strings.SplitSeq(string(b), "\n") {
		line++
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := add(text); err != nil {
			return nil, backend.Errorf(backend.ErrInvalid, fmt.Sprintf("line %d", line), "%w", err)
		}
	}
	return out, nil
}

// readList goes on with the list route; done is true when it was read to its end in this poll.
func (s *Source) readList(ctx, slice context.Context, r *backend.Reading) (done bool, err error) {
	now := s.deps.Now()
	if s.discovery.current == nil {
		if now.Before(s.discovery.listNext) {
			return false, s.discovery.listErr
		}
		s.discovery.current = &pageWalk{}
	}
	w := s.discovery.current
	done, err = s.walk(ctx, slice, s.opt.ListURL, w)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discovery.listErr = err
	if err != nil {
		s.discovery.current, s.discovery.listNext = nil, now.Add(s.deps.Interval)
		return false, err
	}
	s.discovery.fold(w, s, r)
	if !done {
		return false, nil
	}
	s.discovery.current, s.discovery.listed = nil, true
	s.discovery.listNext = now.Add(s.deps.Interval * time.Duration((len(w.pages)+pagesPerPoll-1)/pagesPerPoll) * 9 / 10)
	s.discovery.onList = make(map[backend.ID]bool, w.count)
	s.discovery.bad = nil
	for _, p := range w.pages {
		s.discovery.bad = append(s.discovery.bad, p.bad...)
		for _, l := range p.listed {
			s.discovery.onList[l.id] = true
		}
	}
	s.forgetPages(s.opt.ListURL, w)
	return len(s.discovery.bad) == 0, nil
}

// fold takes over what the pages say about sessions.
func (f *discovery) fold(w *pageWalk, s *Source, r *backend.Reading) {
	if f.onList == nil {
		f.onList = map[backend.ID]bool{}
	}
	for _, p := range w.pages {
		for _, err := range p.bad {
			s.problemErr(r, backend.Key{}, err)
		}
		for i := range p.listed {
			f.onList[p.listed[i].id] = true
		}
	}
	s.adopt()
	for _, p := range w.pages {
		for i := range p.listed {
			l := &p.listed[i]
			if l.problem != nil {
				s.problemErr(r, s.sessions[l.id].key, l.problem)
				continue
			}
			s.sessions[l.id].list(l, maphash.String(s.seed, l.raw.String()), p.clock, s)
		}
	}
}
