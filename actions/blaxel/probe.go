package blaxel

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/internal/stable"
)

// commandWithin is how long true may take. The server ends no command: one that takes longer goes on.
const commandWithin = 10 * time.Second

// starting is how long after a sandbox was made its root may be missing: the agent's SDK makes it after the first command.
const starting = 2 * time.Minute

// examination is one look at a sandbox, plane by plane. Only the first read is sent again while the sandbox wakes.
type examination struct {
	c     *client
	root  string
	found []backend.Verdict
	seen  backend.Inside
	ahead time.Duration // by which the times of its processes are ahead
	over  bool          // it is reported to have ended, or to be on its way
	all   []sandbox.Process
	left  int // processes that its list has besides
	quiet []quiet
}

func (c *client) examine(t actions.Target) *examination {
	return &examination{c: c, root: fact(t, factRoot), over: fact(t, factStatus) != deployed}
}

// probe looks at a sandbox and keeps what it answers.
func (c *client) probe(ctx context.Context, t actions.Target) (actions.Done, error) {
	x := c.examine(t)
	a, err := c.first(ctx)
	if err != nil || a.refusal != nil {
		x.unanswered(&a, err)
		return actions.Concluded(x.found)
	}
	top, err := sandbox.ReadDirectory(a.body)
	switch {
	case c.waking != nil: // the agent asks once
		x.agentSees(&answer{refusal: c.waking}, nil)
	case err != nil:
		x.seen.AgentSees, x.seen.AgentWhy = backend.Known(false), backend.Textf("its check would fail: %s", c.clean(err.Error(), 200))
	default:
		x.agentSees(&a, nil)
	}
	x.commands(ctx) // before true, which is the newer proof then
	x.exec(ctx, &top)
	x.list(ctx, &top)
	x.owned()
	x.inside(ctx)
	return actions.Concluded(x.found)
}

func (x *examination) add(v backend.Verdict) {
	v.At = x.c.factory.now()
	x.found = append(x.found, v)
}

// agentSees says what the agent's own liveness check comes to. It takes any failure for a sandbox that does not run. What only our
// key or our way to the sandbox meets says nothing of it: the agent has its own.
func (x *examination) agentSees(a *answer, err error) {
	switch {
	case err != nil && !timedOut(err):
		x.seen.AgentSees, x.seen.AgentWhy = backend.Unknown[bool](), backend.Textf("our own request was not answered, and the agent asks from elsewhere: %s", x.c.clean(err.Error(), 200))
	case a.refusal != nil && ours(a.refusal):
		x.seen.AgentSees, x.seen.AgentWhy = backend.Unknown[bool](), backend.Textf("our own request was refused, and the agent has its own key: %s", backend.Clean(x.c.said(a.refusal), 300))
	case err != nil:
		x.seen.AgentSees, x.seen.AgentWhy = backend.Known(false), backend.Textf("its check would fail: %s", x.c.clean(err.Error(), 200))
	case a.refusal != nil && a.refusal.Meaning() == sandbox.MeansWaking && x.c.unready > 0:
		x.seen.AgentSees, x.seen.AgentWhy = backend.Known(false), backend.Text("its check would fail, and a read would say not found, although its platform knows the sandbox")
	case a.refusal != nil && a.refusal.Meaning() == sandbox.MeansWaking:
		x.seen.AgentSees, x.seen.AgentWhy = backend.Known(false), backend.Text("its check would fail, and a read would say not found, although the sandbox only wakes")
	case a.refusal != nil:
		x.seen.AgentSees, x.seen.AgentWhy = backend.Known(false), backend.Textf("its check would fail: %s", backend.Clean(x.c.said(a.refusal), 300))
	default:
		x.seen.AgentSees, x.seen.AgentWhy = backend.Known(true), backend.Textf("/ was listed in %s, which is all that its check asks", backend.Age(a.took))
	}
}

// ours reports whether a refusal is about our key, our proxy or the number of our requests.
func ours(r *sandbox.Refusal) bool {
	return r.Meaning() == sandbox.MeansKey || r.Status == http.StatusTooManyRequests || r.Status == http.StatusProxyAuthRequired
}

// timedOut reports whether only our wait ended: the agent's ends after the same time.
func timedOut(err error) bool {
	return backend.KindOf(err) == backend.ErrTimeout || errors.Is(err, context.DeadlineExceeded)
}

// unanswered is the verdict of a sandbox that did not list its root.
func (x *examination) unanswered(a *answer, err error) {
	x.agentSees(a, err)
	v := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown, Took: a.took}
	if err != nil {
		v.What = x.unheard(backend.Text("its server did not answer"), err)
	} else {
		v.What = backend.Clean(x.c.said(a.refusal), 400)
		switch a.refusal.Meaning() {
		case sandbox.MeansGone:
			if x.over {
				v.Kind, v.What = backend.FailGone, backend.Text("the gateway before it knows no such sandbox, as its status says")
				break
			}
			v.Outcome, v.Kind, v.What = backend.OutcomeFailed, backend.FailGone, backend.Text("its record is there, and the gateway before it knows no such sandbox")
			v.Evidence = []backend.Safe{backend.Clean(x.c.said(a.refusal), 400)}
		case sandbox.MeansWaking:
			v.Kind = backend.FailWaking
			if waited := x.c.unready; waited > 0 { // nothing wakes for as long
				v.Kind, v.What = "", backend.Textf("%s for %s: %s", backend.Text(backend.NoInstance), backend.Age(waited), x.c.clean(a.refusal.Text(), 300))
			}
		case sandbox.MeansBroken:
			v.Outcome, v.What = backend.OutcomeFailed, backend.Textf("/ cannot be listed: %s", v.What)
		case sandbox.MeansKey:
			v.Kind = backend.FailUnauthorised
		case sandbox.MeansLimit:
			v.Kind = limitOf(a.refusal)
		case sandbox.MeansFull:
			v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailNoSpace
		case sandbox.MeansUnknown, sandbox.MeansTransient, sandbox.MeansEdgeLimit, sandbox.MeansGoesOn, sandbox.MeansNoDir, sandbox.MeansNotStarted, sandbox.MeansMissing,
			sandbox.MeansNoProcess, sandbox.MeansNotRunning, sandbox.MeansNoSignal, sandbox.MeansNoRoute, sandbox.MeansRequest:
		}
	}
	x.add(v)
	for _, part := range []backend.Literal{backend.PartProcesses, backend.PartArchives, backend.PartMounts} {
		x.unread(part, backend.Text("not asked for: / was not listed"))
	}
	x.keep()
}

// unheard says what had no answer, and where only our wait ended, that the agent's calls for files have none.
func (x *examination) unheard(what backend.Safe, err error) backend.Safe {
	said := x.c.clean(err.Error(), 200)
	if timedOut(err) {
		return backend.Textf("%s within %s; the agent's own calls for files have no deadline: %s", what, backend.Age(x.c.factory.reads), said)
	}
	return backend.Textf("%s: %s", what, said)
}

// exec runs true in the root.
func (x *examination) exec(ctx context.Context, top *sandbox.Directory) {
	dir := x.root
	if backend.LooseRoot(dir) {
		dir = ""
	}
	f := x.c.factory
	call, err := sandbox.Exec(sandbox.Order{Command: "true", Dir: dir, Wait: f.command})
	if err != nil {
		return
	}
	a, err := x.ask(ctx, askExec, call, f.command+f.reads)
	v := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Took: a.took}
	switch {
	case err != nil:
		v.What = backend.Textf("whether a command runs is not known: %s", x.c.clean(err.Error(), 300))
	case a.refusal != nil:
		x.refused(&v, a.refusal, top)
	default:
		x.ran(&v, &a)
	}
	x.add(v)
}

// ran judges a command that began.
func (x *examination) ran(v *backend.Verdict, a *answer) {
	p, err := sandbox.ReadAnswered(a.body)
	code, told := p.ExitCode.Get()
	x.clock(p.Started, x.c.factory.now().Add(-a.took))
	switch {
	case err != nil:
		v.What = backend.Textf("the answer to a command cannot be read: %s", x.c.clean(err.Error(), 200))
	case !told:
		v.What = backend.Text("true was started, and the answer has no exit code: the agent's SDK takes that as 0")
	case code != 0:
		v.Outcome, v.What = backend.OutcomeFailed, backend.Textf("true ended with exit code %d", code)
		v.Evidence = nonEmpty(x.c.clean(p.Stderr, 300), x.c.clean(p.Stdout, 300))
	case backend.LooseRoot(x.root):
		v.Outcome, v.What = backend.OutcomeOK, backend.Text("true ran where its server runs")
	default:
		v.Outcome, v.What = backend.OutcomeOK, backend.Textf("true ran in %s", x.c.clean(x.root, 200))
	}
}

func nonEmpty(all ...backend.Safe) []backend.Safe {
	return slices.DeleteFunc(all, func(s backend.Safe) bool { return s.IsEmpty() })
}

// refused judges a command that was not carried out, or whose end nobody saw.
func (x *examination) refused(v *backend.Verdict, r *sandbox.Refusal, top *sandbox.Directory) {
	said := backend.Clean(x.c.said(r), 400)
	v.What = said
	switch r.Meaning() {
	case sandbox.MeansNoDir:
		x.noRoot(v, top)
		v.Evidence = []backend.Safe{said}
	case sandbox.MeansGoesOn:
		v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailExecTimeout
		v.What = backend.Textf("true did not end within %s; only the wait ended, so that it may still run", backend.Age(x.c.factory.command))
		v.Evidence = []backend.Safe{said}
	case sandbox.MeansFull:
		v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailNoSpace
	case sandbox.MeansNotStarted, sandbox.MeansBroken:
		v.Outcome = backend.OutcomeFailed
	case sandbox.MeansKey:
		v.Kind = backend.FailUnauthorised
	case sandbox.MeansLimit:
		v.Kind = limitOf(r)
	case sandbox.MeansWaking:
		v.Kind = backend.FailWaking
	case sandbox.MeansGone, sandbox.MeansTransient, sandbox.MeansEdgeLimit, sandbox.MeansMissing, sandbox.MeansNoProcess, sandbox.MeansNotRunning, sandbox.MeansNoSignal,
		sandbox.MeansNoRoute, sandbox.MeansRequest, sandbox.MeansUnknown:
	}
}

// noRoot judges a root that is not there: a link to nothing, something else, or, shortly after the sandbox was made, not yet made.
func (x *examination) noRoot(v *backend.Verdict, top *sandbox.Directory) {
	root := x.c.clean(x.root, 200)
	if x.c.age < starting {
		v.Outcome, v.Kind, v.What = backend.OutcomeUnknown, backend.FailWaking, backend.Textf("%s is not there yet: the sandbox was made %s ago, and the agent makes it after its start", root, backend.Age(x.c.age))
		return
	}
	v.Outcome, v.Kind, v.What = backend.OutcomeFailed, backend.FailWorkDirMissing, backend.Textf("%s is missing: no command of the agent begins in it", root)
	if path.Dir(x.root) != "/" {
		return
	}
	switch e, is := top.Find(path.Base(x.root)); {
	case is && e.Link:
		v.Kind, v.What = backend.FailWorkDirDangling, backend.Textf("%s is a link to nothing: no command of the agent begins in it", root)
	case is && !e.Dir:
		v.Kind, v.What = backend.FailWorkDirNoDir, backend.Textf("%s is a file: no command of the agent begins in it", root)
	}
}

// list lists the root, and reads one file of it.
func (x *examination) list(ctx context.Context, top *sandbox.Directory) {
	call, err := sandbox.List(x.root)
	if err != nil {
		x.add(backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown, What: backend.Textf("not listed: %s", backend.WhyLoose(x.c.clean(x.root, 200)))})
		return
	}
	a, err := x.ask(ctx, askList, call, x.c.factory.reads)
	v := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown, Took: a.took}
	root := x.c.clean(x.root, 200)
	switch {
	case err != nil:
		v.What = x.unheard(backend.Textf("%s was not listed", root), err)
	case a.refusal != nil && a.refusal.Meaning() == sandbox.MeansMissing:
		x.noRoot(&v, top)
		v.Evidence = []backend.Safe{backend.Clean(x.c.said(a.refusal), 400)}
	case a.refusal != nil && a.refusal.Meaning() == sandbox.MeansBroken:
		v.Outcome, v.What = backend.OutcomeFailed, backend.Textf("%s cannot be listed: %s", root, backend.Clean(x.c.said(a.refusal), 400))
	case a.refusal != nil && a.refusal.Meaning() == sandbox.MeansFull:
		v.Outcome, v.Kind, v.What = backend.OutcomeFailed, backend.FailNoSpace, backend.Clean(x.c.said(a.refusal), 400)
	case a.refusal != nil:
		v.What = backend.Clean(x.c.said(a.refusal), 400)
	default:
		d, err := sandbox.ReadDirectory(a.body)
		switch {
		case errors.Is(err, sandbox.ErrIsFile):
			v.Outcome, v.Kind, v.What = backend.OutcomeFailed, backend.FailWorkDirNoDir, backend.Textf("%s is a file", root)
		case err != nil:
			v.What = backend.Textf("the list of %s cannot be read: %s", root, x.c.clean(err.Error(), 200))
		default:
			v.Outcome, v.What = backend.OutcomeOK, backend.Textf("%s has %s", root, backend.Counted(len(d.Entries), "entry", "entries"))
			x.owners(&d)
			x.add(v)
			x.read(ctx, &d)
			return
		}
	}
	x.add(v)
}

// owners are the users to whom the files of the root belong: what is written through the API belongs to root.
func (x *examination) owners(d *sandbox.Directory) {
	for _, e := range d.Entries {
		if owner := x.c.clean(e.Owner, 60); !owner.IsEmpty() && !slices.Contains(x.seen.Owners, owner) {
			x.seen.Owners = append(x.seen.Owners, owner)
		}
	}
	stable.Sort(x.seen.Owners, func(a, b backend.Safe) int { return strings.Compare(a.String(), b.String()) })
}

// owned explains a permission that was denied by whom the files of the root belong to.
func (x *examination) owned() {
	x.seen.Root = x.c.clean(x.root, 200)
	by := x.seen.OwnedBy()
	for i := range x.found {
		v := &x.found[i]
		if v.Outcome != backend.OutcomeOK && !by.IsEmpty() && backend.Denied(v.What, backend.Join(v.Evidence, " ")) {
			v.What = backend.Textf("%s; %s", v.What, by)
		}
	}
}

// largestRead is how large a file may be that a probe reads.
const largestRead = 1 << 20

// read reads the smallest file of a directory.
func (x *examination) read(ctx context.Context, d *sandbox.Directory) {
	var least sandbox.Entry
	for _, e := range d.Entries {
		if !e.Dir && !e.Link && e.Size <= largestRead && (least.Name == "" || e.Size < least.Size) {
			least = e
		}
	}
	if least.Name == "" {
		return
	}
	began := x.c.factory.now()
	bounded, cancel := context.WithTimeout(ctx, x.c.factory.reads)
	defer cancel()
	x.c.waits(askRead, x.c.factory.reads)
	size, err := files{x.c}.Read(bounded, path.Join(x.root, path.Base("/"+least.Name)), io.Discard, largestRead+1)
	v := backend.Verdict{Plane: backend.PlaneRead, Outcome: backend.OutcomeUnknown, Took: x.c.factory.now().Sub(began)}
	if err != nil {
		v.What = x.unheard(backend.Text("a file was not read"), err)
	} else {
		v.Outcome, v.What = backend.OutcomeOK, backend.Textf("a file of %s was read", backend.Bytes(size))
	}
	x.c.waited(askRead, &answer{took: v.Took}, err)
	x.add(v)
}

// inside reads the drives and /tmp, besides the processes. What cannot be read is named with the reason, and says nothing about the
// sandbox. /tmp is read after the drives, and the processes before them: a save, which detaches drives, is seen where it begins or ends
// meanwhile.
func (x *examination) inside(ctx context.Context) {
	x.part(ctx, backend.PartMounts, sandbox.Mounts(), x.c.factory.reads, func(body []byte) error {
		mounts, err := sandbox.ReadMounts(body)
		for _, m := range mounts {
			x.seen.Mounts = append(x.seen.Mounts, x.c.clean(m.Path, 200))
		}
		return err
	})
	tmp, err := sandbox.List("/tmp")
	if err != nil {
		return
	}
	x.part(ctx, backend.PartArchives, tmp, x.c.factory.reads, func(body []byte) error {
		d, err := sandbox.ReadDirectory(body)
		for _, r := range d.Archives() {
			x.seen.Archives = append(x.seen.Archives, backend.SandboxArchive{Path: x.c.clean("/tmp/"+r.Name, 200), Restore: r.Restore, Session: x.c.clean(r.Session, 60), Size: r.Size, ChangedAt: r.Changed})
		}
		return err
	})
	x.seen.LeftOut = backend.LeaveOut(sandbox.LeftOut(x.all), ".", x.c.clean)
	x.hangs()
	x.killed(ctx, x.all)
	x.room(x.all)
	x.processes(x.all, x.left)
	x.keep()
}

// room takes what a df printed lately of a full disk for a failure of the root, which can still be listed.
func (x *examination) room(all []sandbox.Process) {
	line, ended := sandbox.FullDisk(all, path.Clean("/"+x.root), "/tmp")
	at := x.ours(ended)
	if line == "" || at.IsZero() || x.c.factory.now().Sub(at) > sandbox.DiskTold {
		return
	}
	for i := range x.found {
		if v := &x.found[i]; v.Plane == backend.PlaneList && v.Outcome == backend.OutcomeOK {
			v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailNoSpace
			v.What = backend.Textf("nothing can be written: %s, by a df of %s; %s", x.c.clean(line, 160), at.UTC().Format("15:04:05Z"), v.What)
		}
	}
}

// mostKilled is how many processes are read once more.
const mostKilled = 5

// killed reads processes once more that were killed and have no end: the server writes that a moment later. It comes last, so that
// the moment has passed.
func (x *examination) killed(ctx context.Context, all []sandbox.Process) {
	n := 0
	for i := range all {
		p := &all[i]
		if p.Status != sandbox.StatusKilled || p.Over() {
			continue
		}
		if n++; n > mostKilled {
			return
		}
		if now, refusal, err := x.c.processOf(ctx, p.PID); err == nil && refusal == nil && now.Name == p.Name && now.Started.Equal(p.Started) {
			*p = now
		}
	}
}

// part asks for one part and has its answer read.
func (x *examination) part(ctx context.Context, name backend.Literal, call sandbox.Call, within time.Duration, read func([]byte) error) {
	a, err := x.ask(ctx, name, call, within)
	switch {
	case err != nil:
		x.unread(name, x.c.clean(err.Error(), 200))
	case a.refusal != nil:
		x.unread(name, backend.Clean(x.c.said(a.refusal), 300))
	default:
		if err := read(a.body); err != nil {
			x.unread(name, backend.Textf("the answer cannot be read: %s", x.c.clean(err.Error(), 200)))
		}
	}
}

func (x *examination) unread(part backend.Literal, why backend.Safe) {
	x.seen.Unread, x.seen.UnreadWhy = append(x.seen.Unread, backend.Text(part)), append(x.seen.UnreadWhy, why)
}

// processes keeps those that run and the newest of the others, in the order of their start.
func (x *examination) processes(all []sandbox.Process, left int) {
	order := func(a, b sandbox.Process) int {
		switch {
		case a.Over() == b.Over():
			return 0
		case b.Over():
			return -1
		}
		return 1
	}
	stable.Sort(all, order)
	x.seen.More = left + max(0, len(all)-backend.MaxProcessesKept)
	for _, p := range all[:min(len(all), backend.MaxProcessesKept)] {
		out := backend.SandboxProcess{PID: x.c.clean(p.PID, 60), Name: x.c.clean(p.Name, maxCommand), Command: x.c.command(p.Command), Reported: x.c.clean(p.Status, 60),
			Class: p.Class(), StartedAt: x.ours(p.Started), EndedAt: x.ours(p.Ended), ExitCode: p.ExitCode, WorkDir: x.c.clean(p.Dir, 200),
			Stdout: x.end(p.Stdout), Stderr: x.end(p.Stderr), Restarts: p.Restarts, Restartable: p.Restartable}
		if p.Stdout == "" && p.Stderr == "" {
			out.Merged = x.end(p.Merged)
		}
		x.seen.Processes = append(x.seen.Processes, out)
	}
}

// clock takes how far the times of the processes are ahead from one of them that began at a known time.
func (x *examination) clock(started, at time.Time) {
	ahead, off := sandbox.TimeOffset(started, at)
	if x.ahead = ahead; off {
		x.seen.ClockOff = ahead
	}
}

// ours is a time of a process by our clock. One that would be to come is not told: the offset is not its own then, as that of a
// process that began before the sandbox slept.
func (x *examination) ours(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	now := x.c.factory.now()
	switch t = t.Add(-x.ahead); {
	case t.After(now.Add(sandbox.NearZone)):
		return time.Time{}
	case t.After(now):
		return now
	}
	return t
}

// end is the last part of an output, masked as a whole before it is cut.
func (x *examination) end(output string) backend.Safe {
	const most = 300
	whole := []rune(x.c.clean(output, len(output)+1).String())
	if len(whole) > most {
		whole = append([]rune("…"), whole[len(whole)-most:]...)
	}
	return backend.Clean(string(whole), most+1)
}

// keep adds what was read to the verdict of the control plane, which is proved by the sandbox's own record.
func (x *examination) keep() {
	x.seen.At, x.seen.Root, x.seen.Answered = x.c.factory.now(), x.c.clean(x.root, 200), x.c.answers > 0
	seen := x.seen
	x.add(backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, What: backend.Text("its own record can be read"), Took: x.c.read, Inside: &seen})
}
