package cloudflare

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
)

// examination is one look at a sandbox, plane by plane. Each command runs once, but for the first one where the answer says that
// nothing was begun.
type examination struct {
	c       *client
	id      string
	session string    // never used before; removed at the end
	began   time.Time // when the first command was sent
	opened  []string  // the sessions in which a command was sent
	runs    bool      // it is known to run: then no answer is a fault
	found   []backend.Verdict
	planes  []backend.Safe // how commands began, way by way
	link    string         // where /workspace leads, if it is a link to nothing
	looked  time.Duration  // how long the test of what stands at /workspace took
	names   []string       // what is in /workspace, where it was listed
	exec    backend.Verdict
}

// probe looks at a sandbox.
func (c *client) probe(ctx context.Context, t actions.Target, id string) (actions.Done, error) {
	x := c.examine(ctx, id, fact(t, factRuns) == runsYes)
	return x.concluded()
}

// concluded is the result. A fault is called one: that it was found is what is proved.
func (x *examination) concluded() (actions.Done, error) {
	done, err := actions.Concluded(x.found)
	switch v, read := (backend.Observation{Verdicts: x.found}).Of(backend.PlaneRead); {
	case err != nil:
	case x.exec.Outcome == backend.OutcomeFailed:
		done.Text = backend.Textf("a fault was found: %s", done.Text)
	case x.exec.Outcome == backend.OutcomeOK && read && v.Outcome == backend.OutcomeUnknown:
		done.Text = backend.Textf("commands run in /workspace; that files can be read is not proved: %s", v.What)
		if v.What == backend.Text(backend.EmptyRead) {
			done.Text = backend.Textf("%s: %s", done.Text, backend.Text(backend.EmptyReadNext))
		}
	}
	return done, err
}

// examine runs true without a session; if that works, lists and reads; if not, tries a new session to tell why.
func (c *client) examine(ctx context.Context, id string, runs bool) *examination {
	x := &examination{c: c, id: id, runs: runs, session: newSession()}
	none := false
	if p, err := c.pool(ctx); err == nil {
		said := backend.Textf("the bridge has %s in use", backend.Counted(p.Assigned, "container", "containers"))
		if none = p.Assigned == 0 && !runs; none {
			said = backend.Text("the bridge had no container in use before the first command")
		}
		x.add(backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, What: said, Evidence: x.processes(ctx)})
	}
	x.began = c.factory.now()
	a, err := c.first(ctx, id)
	switch {
	case err == nil && a.ran.OK():
		x.exec = x.add(backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, What: ranIn(runs, none), Took: a.took})
		x.list(ctx)
		return x
	case err == nil && a.ran.Exit.IsKnown():
		code, _ := a.ran.Exit.Get()
		x.exec = x.add(backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Took: a.took, Evidence: x.answers(&a),
			Kind: fullDisk(a.ran.Stderr), What: backend.Textf("%s%d", backend.Text(backend.TrueEnded), code)})
		return x
	case err == nil && a.problem != nil && a.problem.Cause != bridge.CauseSpawn && a.problem.Cause != bridge.CauseUnknownError:
		x.exec = x.add(x.refused(&a))
		return x
	}
	x.planes = append(x.planes, x.way("no session", &a, err))
	x.why(ctx, a, err)
	x.leave(ctx)
	return x
}

// ranIn says in which container the first command ran: none says that the bridge had none in use before it.
func ranIn(runs, none bool) backend.Safe {
	switch {
	case none:
		return backend.Textf("true ran in /workspace; %s", backend.Text(backend.BegunByProbe))
	case !runs:
		return backend.Textf("true ran in /workspace; %s", backend.Text(backend.MayBeNew))
	}
	return backend.Text("true ran in /workspace")
}

// newSession is the id of a session that was never used.
func newSession() string { return "sandglass-" + strings.ToLower(rand.Text()) }

func (x *examination) add(v backend.Verdict) backend.Verdict {
	v.At = x.c.factory.now()
	x.found = append(x.found, v)
	return v
}

// answers is what a command or the bridge said, as evidence.
func (x *examination) answers(a *answer) []backend.Safe {
	var out []backend.Safe
	if a.problem != nil {
		out = append(out, backend.Clean(x.c.said(a.problem), 400))
	}
	if text := strings.TrimSpace(a.ran.Stderr); text != "" {
		out = append(out, x.c.clean(text, 300))
	}
	return out
}

// refused is the verdict of a request that did not reach the sandbox: nothing is known of it.
func (x *examination) refused(a *answer) backend.Verdict {
	v := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, What: backend.Clean(x.c.said(a.problem), 400), Took: a.took}
	switch a.problem.Cause {
	case bridge.CauseKey:
		v.Kind = backend.FailUnauthorised
	case bridge.CauseCeiling, bridge.CauseNoInstance:
		v.Kind = backend.FailThrottled
	case bridge.CauseStarting:
		v.Kind = backend.FailWaking
	case bridge.CauseIncompatible: // as in each rollout: only one that stays is a failure
		v.Kind = backend.FailProtocol
	case bridge.CauseStartup:
		v.Outcome, v.Kind, v.Since = backend.OutcomeFailed, backend.FailControl5xx, x.began
	case bridge.CauseOther, bridge.CauseRequest, bridge.CausePool, bridge.CauseUnreachable, bridge.CauseSpawn,
		bridge.CauseUnknownError, bridge.CauseFile, bridge.CauseSession, bridge.CauseGone:
	}
	if a.spent && x.runs { // as long as a start may take, of one that was called running before
		v.Outcome, v.Kind, v.Since = backend.OutcomeFailed, backend.FailControl5xx, x.began
		v.What = backend.Clean("it is called running, and nothing else was answered for "+backend.Age(x.c.factory.now().Sub(x.began))+": "+v.What.String(), 400)
	}
	return v
}

// way says how a command began on one way.
func (x *examination) way(name backend.Literal, a *answer, err error) backend.Safe {
	switch {
	case err != nil:
		return backend.Textf("%s: no answer: %s", backend.Text(name), x.c.clean(err.Error(), 160))
	case a.problem != nil:
		return backend.Textf("%s: did not begin: %s", backend.Text(name), x.c.clean(a.problem.Text, 200))
	case !a.ran.Exit.IsKnown() && !a.late:
		return backend.Textf("%s: what was answered does not tell whether it began or ended", backend.Text(name))
	case !a.ran.Exit.IsKnown() && !a.ran.Began():
		return backend.Textf("%s: no end within %s", backend.Text(name), backend.Age(a.took))
	case !a.ran.OK():
		code, known := a.ran.Exit.Get()
		if !known {
			return backend.Textf("%s: began, and no end came: %s", backend.Text(name), x.c.clean(a.ran.Stderr, 160))
		}
		return backend.Textf("%s: ended with exit code %d: %s", backend.Text(name), code, x.c.clean(a.ran.Stderr, 160))
	}
	if at := x.c.clean(a.ran.Stdout, 200); !at.IsEmpty() {
		return backend.Textf("%s: runs, in %s", backend.Text(name), at)
	}
	return backend.Textf("%s: runs", backend.Text(name))
}

// inSession runs a command in the session of the look.
func (x *examination) inSession(ctx context.Context, argv ...string) (answer, error) {
	return x.in(ctx, x.session, argv...)
}

// in runs a command in a session, which is removed at the end. A working directory is never sent with it.
func (x *examination) in(ctx context.Context, session string, argv ...string) (answer, error) {
	if !slices.Contains(x.opened, session) {
		x.opened = append(x.opened, session)
	}
	return x.c.exec(ctx, x.id, bridge.Order{Argv: argv, Session: session, Within: commandWithin}, x.c.factory.next)
}

// leave removes the sessions. It is of no matter whether there were any.
func (x *examination) leave(ctx context.Context) {
	for _, session := range x.opened {
		if call, err := bridge.DeleteSession(x.id, session); err == nil {
			_, _ = x.c.send(ctx, call, x.c.factory.next)
		}
	}
}

// lookAt tells what stands at /workspace, without the word exit, at which old versions lose the end of a command.
const lookAt = `if [ -d /workspace ]; then echo directory; elif [ -L /workspace ]; then echo link; readlink /workspace; elif [ -e /workspace ]; then echo other; else echo missing; fi`

// otherWays are those that are of no use where plain commands fail for another reason than /workspace.
const otherWays = backend.Literal("no session with cwd /workspace, a new session in the root, and after mkdir: not tried")

// why tells why a command without a session did not begin (cases A to D of cloudflare/sandbox-sdk#288).
func (x *examination) why(ctx context.Context, plain answer, plainErr error) {
	pwd, err := x.inSession(ctx, "pwd")
	x.planes = append(x.planes, x.way("a new session", &pwd, err))
	silent := func(a *answer, err error) bool { return err != nil || a.problem == nil && !a.ran.Exit.IsKnown() }
	unknown := func(a *answer) bool { return a.problem != nil && a.problem.Cause == bridge.CauseUnknownError }
	v := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Took: plain.took, Since: x.began}
	if !silent(&plain, plainErr) { // its answer tells of the fault
		v.Since = x.began.Add(plain.took)
	}
	switch {
	case unknown(&plain), unknown(&pwd), strings.Contains(pwd.ran.Stderr+pwd.ran.Stdout, bridge.UnknownError):
		v.Kind, v.What = backend.FailServerDir, backend.Text("the working directory of its control server was removed: every plain command fails, and making /workspace again does not help")
		x.planes = append(x.planes, backend.Text(otherWays))
	case silent(&pwd, err):
		again, errAgain := x.in(ctx, x.session+"-2", "pwd")
		x.planes = append(x.planes, x.way("another new session", &again, errAgain))
		x.planes = append(x.planes, backend.Text(otherWays))
		v.Took += pwd.took + again.took
		switch {
		case !silent(&again, errAgain):
			v.Outcome, v.What = backend.OutcomeUnknown, backend.Text("one command was not answered and the next one was: the connection may have been lost; probe it again")
		case !x.bridgeAnswers(ctx):
			v.Outcome, v.Kind, v.What = backend.OutcomeUnknown, backend.FailExecTimeout, backend.Text("no command was answered, and now the bridge itself does not answer: nothing is known of the sandbox")
		case plainErr == nil && plain.problem != nil: // that much was seen
			v.What = backend.Text("commands without a session do not begin, and those in a new session were not answered, twice: which fault it is was not seen")
		case !plain.late || !pwd.late || !again.late: // a lost answer is no silence
			v.Outcome, v.What = backend.OutcomeUnknown, backend.Text("what came back is no answer of the bridge, or broke off. Look at the way to the bridge, then probe it again")
		case x.runs:
			v.Kind, v.What = backend.FailServerFrozen, backend.Text("its control server answers nothing: neither a plain command nor one in a new session ended, twice")
		default:
			v.Kind, v.What = backend.FailExecTimeout, backend.Text("its control server answers nothing, or its container does not start, which nothing here shows: neither a plain command nor one in a new session ended, twice")
		}
	case pwd.problem != nil && pwd.problem.NoDirectory():
		x.noSession(ctx, &v)
	case pwd.problem != nil:
		v.Kind, v.What = fullDisk(said(&plain), pwd.problem.Text), backend.Textf("commands begin neither without a session nor in a new one: %s", x.c.clean(pwd.problem.Text, 200))
	case silent(&plain, plainErr):
		v.Outcome, v.Kind, v.What = backend.OutcomeUnknown, backend.FailExecTimeout, backend.Text("a command without a session was not answered, one in a new session was")
	case strings.TrimSpace(pwd.ran.Stdout) == bridge.Root:
		x.room(ctx, &v, said(&plain))
	default:
		x.directory(ctx, &v)
	}
	v.Evidence = x.planes
	x.exec = x.add(v)
	if v.Kind == backend.FailWorkDirMissing || v.Kind == backend.FailWorkDirDangling || v.Kind == backend.FailWorkDirNoDir {
		what, _, _ := strings.Cut(v.What.String(), ": ")
		test := backend.Text("a test in a new session")
		if x.exec.What.String() == caseB {
			test = backend.Text("a test that began in /")
		}
		x.add(backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: v.Kind, Took: x.looked, Since: v.Since, What: backend.Textf("%s%s says that %s", backend.Text(backend.NotListed), test, x.c.clean(what, 250))})
	}
}

// bridgeAnswers reports whether the way to the bridge is there, so that silence is the sandbox's own.
func (x *examination) bridgeAnswers(ctx context.Context) bool {
	_, err := x.c.pool(ctx)
	return err == nil
}

// directory tells what stands in the place of /workspace where a new session begins elsewhere, and tries the other ways.
func (x *examination) directory(ctx context.Context, v *backend.Verdict) {
	given, err := x.c.exec(ctx, x.id, bridge.Order{Argv: []string{"pwd"}, Dir: bridge.Root, Within: commandWithin}, x.c.factory.next)
	x.planes = append(x.planes, x.way("no session, with cwd /workspace", &given, err))
	root, err := x.inSession(ctx, "sh", "-c", "cd / && pwd")
	x.planes = append(x.planes, x.way("a new session, in the root", &root, err))
	look, err := x.inSession(ctx, "sh", "-c", lookAt)
	x.looked = look.took
	word, rest, _ := strings.Cut(strings.TrimSpace(look.ran.Stdout), "\n")
	if err != nil || !look.ran.OK() {
		word = ""
	}
	switch word {
	case "missing":
		v.Kind, v.What = backend.FailWorkDirMissing, backend.Text("/workspace is missing: no command without a session begins; commands of a new session run elsewhere")
	case "link":
		x.link = strings.TrimSpace(rest)
		v.Kind, v.What = backend.FailWorkDirDangling, backend.Textf("/workspace is a link to %s, which is missing: no command without a session begins", x.c.clean(x.link, 200))
	case "other":
		v.Kind, v.What = backend.FailWorkDirNoDir, backend.Text("/workspace is not a directory: no command without a session begins")
	default:
		v.What = backend.Text("commands without a session do not begin, and a new session begins elsewhere than in /workspace; what is there could not be looked at")
	}
}

// list lists /workspace, and reads the first file that it finds there. An empty answer is no proof: so is that of a missing file.
func (x *examination) list(ctx context.Context) {
	v := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown}
	a, err := x.c.exec(ctx, x.id, bridge.Order{Argv: []string{"ls", "-1Ap", bridge.Root + "/"}, Within: commandWithin}, x.c.factory.next)
	v.Took = a.took
	switch {
	case err != nil:
		v.What = x.c.clean(err.Error(), 300)
	case a.problem != nil:
		v.What = backend.Clean(x.c.said(a.problem), 400)
	case a.ran.OK():
		names := strings.Split(strings.TrimSuffix(a.ran.Stdout, "\n"), "\n")
		if a.ran.Stdout == "" {
			names = nil
		}
		x.names = names
		v.Outcome, v.What = backend.OutcomeOK, backend.Textf("/workspace has %s", backend.Counted(len(names), "entry", "entries"))
		if to := x.linkTo(ctx); !to.IsEmpty() {
			v.What = backend.Textf("%s%s, and has %s", backend.Text(backend.RootIsLink), to, backend.Counted(len(names), "entry", "entries"))
		}
		x.add(v)
		x.read(ctx, names)
		return
	case a.ran.Exit.IsKnown():
		v.Outcome, v.What, v.Evidence = backend.OutcomeFailed, backend.Text("/workspace cannot be listed"), x.answers(&a)
	default:
		v.What = backend.Text("the list of /workspace did not end")
	}
	x.add(v)
}

// linkTo is where /workspace leads, where it is a link to a directory: an old image begins no command of a session there.
func (x *examination) linkTo(ctx context.Context) backend.Safe {
	a, err := x.c.exec(ctx, x.id, bridge.Order{Argv: []string{"readlink", bridge.Root}, Within: commandWithin}, x.c.factory.next)
	if err != nil || a.problem != nil || !a.ran.OK() {
		return backend.Safe{}
	}
	return x.c.clean(a.ran.Stdout, 200)
}

func (x *examination) read(ctx context.Context, names []string) {
	for _, name := range names {
		call, err := bridge.ReadFile(x.id, bridge.Root+"/"+name)
		if name == "" || strings.HasSuffix(name, "/") || err != nil {
			continue
		}
		v := backend.Verdict{Plane: backend.PlaneRead, Outcome: backend.OutcomeUnknown}
		a, err := x.c.send(ctx, call, x.c.factory.next)
		v.Took = a.took
		switch {
		case err != nil:
			v.What = x.c.clean(err.Error(), 300)
		case a.problem != nil:
			v.What = backend.Clean(x.c.said(a.problem), 400)
		case !bridge.ReadContent(a.body).IsKnown():
			v.What = backend.Text(backend.EmptyRead)
		default:
			v.Outcome, v.What = backend.OutcomeOK, backend.Text("a file was read")
		}
		x.add(v)
		return
	}
}
