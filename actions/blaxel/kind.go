package blaxel

import (
	"context"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/backend/wire"
)

// longest is how long one sandbox may take: the first request waits until it is awake, and a rescue reads many files.
const (
	longest       = 2*sandbox.FirstWithin + 13*sandbox.ReadWithin
	longestRescue = 20 * time.Minute
)

// Options are the keys of a blaxel source that its actions read.
type Options struct {
	Act         wire.Credential `toml:"act" doc:"the key for acting, read only while a confirmed plan runs; without this table that of [source.read]"`
	RescueLimit backend.Size    `toml:"rescue_limit" doc:"how much rescue downloads at most"`
	// ProcessList has no source: 30 s is what the agent's SDK gives a fast call (fast_op_s).
	ProcessList backend.Duration `toml:"process_list" doc:"how long a probe waits for the list of processes, which holds the ends of all their output; from 1s to 55s"`
}

func defaults() Options {
	return Options{Act: wire.Credential{Header: "Authorization"}, RescueLimit: 1_000_000_000, ProcessList: backend.Duration(30 * time.Second)}
}

// platform is the read ability of a source that says where its workspace is.
type platform interface{ Site() sandbox.Site }

// Kind is what can be done to sources of kind "blaxel".
func Kind() actions.Kind {
	return actions.Kind{Name: "blaxel", Specs: specs(), Defaults: func() any { o := defaults(); return &o }, Build: build,
		Lacks: map[actions.Verb]backend.Safe{actions.Shell: backend.Text("Sandglass does not use the terminal of its sandboxes, which never tells how a shell ended; " +
			"probe runs short commands in a sandbox")}}
}

const wakes = "wakes the sandbox where it sleeps, keeps it awake for about 15s more, and bills that"

// specs lists the verbs in the order of the least harm.
func specs() []actions.Spec {
	return []actions.Spec{
		{Verb: actions.Probe, Of: backend.KindSandbox, Title: "probe", Effect: "lists / and the session's root, runs true there, reads one file, /tmp, the processes and the drives, and keeps the answers",
			Cost: wakes + "; the command true stays in its list of processes", Undo: "nothing", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute, Most: 20, PerMinute: 20},
		{Verb: actions.Rescue, Of: backend.KindSandbox, Title: "rescue", Effect: "downloads the files of the session's root, one by one, into an archive below the state directory",
			Cost: wakes, Undo: "remove the archive", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute, Most: 20, PerMinute: 10},
		{Verb: actions.RevokeToken, Of: backend.KindSandbox, Title: "revoke-token", Effect: "removes one token of a private preview: who opens the preview with it is refused from then on",
			Cost: "asks the control plane only: nothing wakes", Gesture: actions.GestureYes, Cap: actions.CapAbsolute, Most: 20, PerMinute: 20},
		{Verb: actions.StopProcess, Of: backend.KindSandbox, Title: "stop-process", Effect: "asks one process and its group to end (SIGTERM), and looks whether it ends; it may ignore that",
			Cost: wakes, Gesture: actions.GestureYes, Cap: actions.CapAbsolute, Most: 1, PerMinute: 20},
		{Verb: actions.KillProcess, Of: backend.KindSandbox, Title: "kill-process", Effect: "ends one process and its group at once (SIGKILL): what it did not write is lost",
			Cost: wakes, Gesture: actions.GestureName, Cap: actions.CapAbsolute, Most: 1, PerMinute: 20},
		{Verb: actions.Destroy, Of: backend.KindSandbox, Title: "destroy", Effect: "deletes it by one request that is never repeated: its files, memory and processes are lost; snapshots of the workspace stay",
			Gesture: actions.GestureName, Cap: actions.CapShare},
	}
}

// build makes the parts of the allowed verbs. It opens nothing.
func build(site actions.Site) (map[actions.Verb]actions.Part, map[actions.Verb]backend.Safe, error) {
	o := defaults()
	if err := site.Options.Decode(&o); err != nil {
		return nil, nil, err
	}
	if err := o.Act.CheckAt(site.Options, "act"); err != nil {
		return nil, nil, err
	}
	if o.RescueLimit < 1_000_000 {
		return nil, nil, site.Options.Refuse("rescue_limit", "must be at least 1MB")
	}
	if w := o.ProcessList.Std(); w < time.Second || w > 55*time.Second {
		return nil, nil, site.Options.Refuse("process_list", "must be from 1s to 55s: the network before a sandbox gives up after about 60s")
	}
	parts, missing := map[actions.Verb]actions.Part{}, map[actions.Verb]backend.Safe{}
	src, ok := site.Source.(platform)
	f := &factory{deps: site.Deps, limit: int64(o.RescueLimit), state: site.StateDir, pause: time.Second, ends: 8 * time.Second, reads: sandbox.ReadWithin, wakes: sandbox.FirstWithin, command: commandWithin, list: o.ProcessList.Std()}
	if ok {
		f.site = src.Site()
		if !o.Act.IsZero() {
			f.site.Key, f.site.Login = o.Act, nil
		}
	}
	if f.deps.Cleaner == nil {
		f.deps.Cleaner = backend.NewCleaner()
	}
	f.deps.Deadline = sandbox.FirstWithin
	for _, v := range site.Allowed {
		switch {
		case !ok:
			missing[v] = backend.Text("this source cannot say where its platform is")
		case f.site.Key.IsZero() && f.site.Login == nil:
			missing[v] = backend.Text("no key: add [source.act] with env, file or command, or set BL_API_KEY")
		case v == actions.Rescue && f.state == "":
			missing[v] = backend.Text("rescue needs a state directory for its archives")
		default:
			if p, known := f.part(v); known {
				parts[v] = p
			}
		}
	}
	return parts, missing, nil
}

// factory makes the effects of one source.
type factory struct {
	site  sandbox.Site
	deps  backend.Deps
	limit int64
	state string
	// pause is the first wait before a read is sent again, ends how long the end of a process or a sandbox is waited for.
	// reads is how long one read may take, wakes how long the first is sent again, command how long true may run, list how long the
	// list of processes may take.
	pause, ends, reads, wakes, command, list time.Duration
}

func (f *factory) part(v actions.Verb) (actions.Part, bool) {
	p := actions.Part{Targets: targetReader{verb: v, site: f.site}, Longest: longest}
	var do operation
	switch v {
	case actions.Probe:
		do = (*client).probe
	case actions.Rescue:
		do, p.Longest = (*client).rescue, longestRescue
	case actions.RevokeToken:
		do = (*client).revoke
	case actions.StopProcess:
		do = (*client).stop
	case actions.KillProcess:
		do = (*client).kill
	case actions.Destroy:
		do, p.Verifier = (*client).destroy, actions.SandboxEnded{}
	default:
		return actions.Part{}, false
	}
	p.Open = func(context.Context) (actions.Effect, error) {
		return &effect{factory: f, do: do, told: func(actions.Step) {}}, nil
	}
	return p, true
}

// now is the clock of the program.
func (f *factory) now() time.Time { return f.deps.Now() }
