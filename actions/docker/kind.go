package docker

import (
	"context"
	"net/http"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/workdir"
)

// Options are the keys of a docker source that its actions read.
type Options struct {
	ProbeCommand []string         `toml:"probe_command" doc:"harmless argument vector that probe and repair run in the working directory to prove that commands run"`
	ProveImage   string           `toml:"prove_image" doc:"image of the container that prove makes; empty: that of the suspect, else the one that most sandboxes use; it is never pulled"`
	ProveCommand []string         `toml:"prove_command" doc:"argument vector that keeps the container of prove waiting, and that ends by itself"`
	StopTimeout  backend.Duration `toml:"stop_timeout" doc:"how long a container that is stopped may take to end before the engine kills it, at most 90s; one that was made with a longer time has that, up to 90s"`
}

func defaults() Options {
	return Options{ProbeCommand: []string{"true"}, ProveCommand: []string{"sleep", "600"}, StopTimeout: backend.Duration(10 * time.Second)}
}

// longestStop keeps a stop within the time that a run gives one effect.
const longestStop = 90 * time.Second

// endpointSource is the read ability of a source that says where its engine is.
type endpointSource interface {
	// Endpoint is the engine that the newest poll spoke to: its address as the client library takes it, the API version
	// that was agreed on, and an HTTP client of the caller's own.
	Endpoint() (host, api string, c *http.Client, err error)
	// ClientCommand is the command line client that reaches it from a shell.
	ClientCommand() string
	// Marks says what makes a container a sandbox.
	Marks() backend.Safe
}

// Kind is what can be done to the sources of kind "docker".
func Kind() actions.Kind {
	return actions.Kind{
		Name:  "docker",
		Specs: specs(),
		Defaults: func() any {
			o := defaults()
			return &o
		},
		Build: build,
	}
}

// specs lists the verbs in the order in which they are offered: what harms least comes first.
func specs() []actions.Spec {
	return []actions.Spec{
		{Verb: actions.Probe, Of: backend.KindSandbox, Title: "probe",
			Effect: "runs a harmless command (probe_command) in the working directory, lists it and reads one byte of a file; starts nothing in a container that does not run", Cost: probeCost,
			Undo: "there is nothing to take back", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute},
		{Verb: actions.Shell, Of: backend.KindSandbox, Title: "shell", Takes: true,
			Effect: "opens a shell (bash, else sh) in the container on this terminal, as the container's user; a person who types there can change and end everything in it",
			Cost:   "starts at most 4 short commands to find the shell, and the shell; the journal has when it began and ended, and not what was typed",
			Undo:   "nothing takes back what is done in it", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute, Most: 1},
		{Verb: actions.Prove, Of: backend.KindSource, Title: "prove", Makes: true,
			Effect: "makes a container of its own, writes, runs a command, lists, reads, pauses and resumes it, and removes it: this shows whether the engine works",
			Undo:   "there is nothing to take back: the container is removed at the end", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute, PerMinute: 6},
		{Verb: actions.Repair, Of: backend.KindSandbox, Title: "repair",
			Effect:  "makes the missing working directory again, empty, and proves that a command runs in it; the old contents are gone already",
			Undo:    "rmdir of the empty directory",
			Cost:    verifyCost,
			Gesture: actions.GestureYes, Cap: actions.CapAbsolute},
		{Verb: actions.Resume, Of: backend.KindSandbox, Title: "resume",
			Effect: "lets every process in the paused container go on, and verifies it plane by plane",
			Cost:   verifyCost,
			Undo:   "pause", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute},
		{Verb: actions.Start, Of: backend.KindSandbox, Title: "start",
			Effect: "starts the container that has ended, with its files; its main process begins again",
			Cost:   "from then on what it runs takes processor and memory of its host",
			Undo:   "stop", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute},
		{Verb: actions.Pause, Of: backend.KindSandbox, Title: "pause",
			Effect: "freezes every process in the container; commands sent to it fail or hang until it is resumed",
			Undo:   "resume", Gesture: actions.GestureTwice, Cap: actions.CapShare},
		{Verb: actions.Stop, Of: backend.KindSandbox, Title: "stop",
			Effect:  "asks what runs in the container to end, and kills it when it does not; the container and its files stay",
			Undo:    "a start, here or in its engine, brings the container back with its files; what ran in it does not come back",
			Gesture: actions.GestureYes, Cap: actions.CapShare},
		{Verb: actions.Restart, Of: backend.KindSandbox, Title: "restart",
			Effect:  "asks what runs in the container to end, kills it when it does not, and starts the container again with its files",
			Gesture: actions.GestureYes, Cap: actions.CapShare},
		{Verb: actions.Destroy, Of: backend.KindSandbox, Title: "destroy",
			Effect:  "kills what runs in the container, removes it and its anonymous volumes; named volumes and directories of the host stay",
			Gesture: actions.GestureName, Cap: actions.CapShare},
	}
}

// build makes the parts of the allowed verbs. It opens nothing.
func build(site actions.Site) (map[actions.Verb]actions.Part, map[actions.Verb]backend.Safe, error) {
	o := defaults()
	if err := site.Options.Decode(&o); err != nil {
		return nil, nil, err
	}
	if len(o.ProbeCommand) == 0 || o.ProbeCommand[0] == "" {
		return nil, nil, site.Options.Refuse("probe_command", "must name a program, for example [\"true\"]")
	}
	if len(o.ProveCommand) == 0 || o.ProveCommand[0] == "" {
		return nil, nil, site.Options.Refuse("prove_command", "must name a program, for example [\"sleep\", \"600\"]")
	}
	if o.StopTimeout.Std() > longestStop {
		return nil, nil, site.Options.Refuse("stop_timeout", "must be at most 90s")
	}
	parts, missing := map[actions.Verb]actions.Part{}, map[actions.Verb]backend.Safe{}
	src, ok := site.Source.(endpointSource)
	desk := &clientFactory{source: src, deps: site.Deps, opt: o, host: workdir.Host{Proc: "/proc"}}
	if desk.deps.Cleaner == nil {
		desk.deps.Cleaner = backend.NewCleaner()
	}
	for _, v := range site.Allowed {
		if !ok {
			missing[v] = backend.Text("this source cannot say where its engine is")
			continue
		}
		if p, known := desk.part(v); known {
			parts[v] = p
		}
	}
	return parts, missing, nil
}

// clientFactory makes clients of one engine, and holds what the parts of its source share.
type clientFactory struct {
	source endpointSource
	deps   backend.Deps
	opt    Options
	host   workdir.Host
}

func (f *clientFactory) part(v actions.Verb) (actions.Part, bool) {
	if v == actions.Prove {
		return f.prove(), true
	}
	p := actions.Part{Targets: targetReader{f, v}, ReadsItself: true}
	var do func(*mutatingClient) operation
	switch v {
	case actions.Destroy:
		p.Verifier, do = removalVerifier{}, func(h *mutatingClient) operation { return h.destroy }
	case actions.Stop:
		p.Verifier, do = classVerifier{backend.SandboxExited}, func(h *mutatingClient) operation { return h.stop }
	case actions.Start:
		p.Verifier, do = classVerifier{backend.SandboxRunning}, func(h *mutatingClient) operation { return h.start }
	case actions.Restart:
		p.Verifier, do = newRunVerifier{}, func(h *mutatingClient) operation { return h.restart }
	case actions.Pause:
		p.Verifier, do = classVerifier{backend.SandboxPaused}, func(h *mutatingClient) operation { return h.pause }
	case actions.Resume:
		p.Verifier, do = classVerifier{backend.SandboxRunning}, func(h *mutatingClient) operation { return h.resume }
	case actions.Repair: // readings do not show the inside of a container: the command that runs afterwards proves it
		do = func(h *mutatingClient) operation { return h.repair }
	case actions.Shell:
		p.Longest = longestShell
		do = func(h *mutatingClient) operation { return h.shell }
	case actions.Probe:
		do = func(h *mutatingClient) operation { return h.probe }
	default:
		return actions.Part{}, false
	}
	p.Open = func(context.Context) (actions.Effect, error) {
		h, err := f.open()
		if err != nil {
			return nil, err
		}
		return &effect{client: h, verb: v, operation: do(h)}, nil
	}
	return p, true
}
