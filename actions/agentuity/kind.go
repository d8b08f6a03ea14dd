package agentuity

import (
	"context"
	"net/http"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// deadline bounds one request: a busy execute may hang about 90 s.
const deadline = 100 * time.Second

// Options are the keys of an agentuity source that its actions read.
type Options struct {
	Act         wire.Credential `toml:"act" doc:"the acting key: read only while a confirmed plan runs"`
	RescueLimit backend.Size    `toml:"rescue_limit" doc:"largest archive that rescue downloads"`
}

func defaults() Options {
	return Options{Act: wire.Credential{Header: "Authorization"}, RescueLimit: 1_000_000_000}
}

// platform is the read ability of a source that says where its sandboxes and its Hub are.
type platform interface {
	SandboxBase(id backend.ID) (base, org string)
	// RegionBases are the bases of all regions.
	RegionBases() []string
	HubBase() (base, org string, err error)
	// RegionStep is what to do when a region answers that another one has a sandbox; named is what the answer says.
	RegionStep(named string) string
	// Directory is the directory that shows whether a filesystem is there.
	Directory() string
	// SawFiles notes how many entries that directory of a sandbox has; most of them are gone where it had many more before.
	SawFiles(id backend.ID, entries int, at time.Time) (had int, since time.Time, lost bool)
}

// Kind is what can be done to sources of kind "agentuity".
func Kind() actions.Kind {
	return actions.Kind{Name: "agentuity", Specs: specs(), Defaults: func() any { o := defaults(); return &o }, Build: build,
		Lacks: map[actions.Verb]backend.Safe{actions.Shell: backend.Text("its API runs single commands and has no terminal that Sandglass knows; " +
			"the vendor's command opens one: agentuity cloud ssh, and the id of the sandbox")}}
}

// lookCost is what looking at a filesystem costs.
const lookCost = "lists one directory of the sandbox: whether that is recorded or billed is not documented"

// specs lists the verbs in the order of the least harm.
func specs() []actions.Spec {
	return []actions.Spec{
		{Verb: actions.Rescue, Of: backend.KindSandbox, Title: "rescue", Effect: "downloads its home directory into an archive below the state directory",
			Cost: "reads all files of the directory: the platform records that", Undo: "nothing", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute, Most: 20, PerMinute: 10},
		{Verb: actions.Probe, Of: backend.KindSandbox, Title: "probe", Effect: "asks its status, lists one directory; if both work, runs true once; never behind queued work",
			Cost: "records one execution, which may restart its idle timeout; true has a limit of 10s and is never repeated", Undo: "nothing", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute, Most: 50},
		{Verb: actions.Prove, Of: backend.KindSource, Title: "prove", Makes: true,
			Effect: "makes a sandbox with the suspect's organisation and runtime, tries it plane by plane, pauses, resumes and destroys it",
			Cost:   "bills one small sandbox for about a minute", Undo: "nothing: it is destroyed at the end", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute, PerMinute: 6},
		{Verb: actions.Resume, Of: backend.KindSandbox, Title: "resume", Effect: "resumes the sleeping sandbox, then looks at status and filesystem",
			Cost: "bills the sandbox from then on; afterwards " + lookCost, Undo: "pause", Gesture: actions.GestureTwice, Cap: actions.CapShare, PerMinute: 20},
		{Verb: actions.Wake, Of: backend.KindSession, Title: "wake", Effect: "has the Hub resume its sandbox and signal the driver; the Hub gives up after 120s",
			Cost: "runs one or two commands in the sandbox", Undo: "pause the sandbox", Gesture: actions.GestureTwice, Cap: actions.CapShare, PerMinute: 20},
		{Verb: actions.Replace, Of: backend.KindSandbox, Title: "replace", Effect: "makes a new sandbox configured like this one, which stays",
			Cost: "bills a second sandbox", Undo: "destroy the new sandbox", Gesture: actions.GestureYes, Cap: actions.CapShare, Most: 20, PerMinute: 10},
		{Verb: actions.Pause, Of: backend.KindSandbox, Title: "pause", Effect: "suspends it; a broken one may lose its last good checkpoint or end",
			Undo: "resume, if the checkpoint is good", Gesture: actions.GestureName, Cap: actions.CapShare},
		{Verb: actions.Destroy, Of: backend.KindSandbox, Title: "destroy", Effect: "removes it with its files and checkpoints for good",
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
	parts, missing := map[actions.Verb]actions.Part{}, map[actions.Verb]backend.Safe{}
	src, ok := site.Source.(platform)
	f := &factory{source: src, deps: site.Deps, opt: o, state: site.StateDir}
	f.deps.Deadline = deadline
	if f.deps.Cleaner == nil {
		f.deps.Cleaner = backend.NewCleaner()
	}
	for _, v := range site.Allowed {
		switch {
		case !ok:
			missing[v] = backend.Text("this source cannot say where its platform is")
		case o.Act.IsZero():
			missing[v] = backend.Text("no acting key: add [source.act] with env, file or command")
		case v == actions.Rescue && site.StateDir == "":
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
	source platform
	deps   backend.Deps
	opt    Options
	state  string
}

func (f *factory) part(v actions.Verb) (actions.Part, bool) {
	p := actions.Part{Targets: targetReader{v}}
	var do operation
	switch v {
	case actions.Rescue:
		do = (*client).rescue
	case actions.Probe:
		do = (*client).probe
	case actions.Resume:
		do, p.Verifier = (*client).resume, resumeVerifier{}
	case actions.Replace:
		do = (*client).replace
	case actions.Pause:
		do, p.Verifier = (*client).pause, statusVerifier{backend.SandboxAsleep}
	case actions.Destroy:
		do, p.Verifier = (*client).destroy, statusVerifier{backend.SandboxExited}
	case actions.Wake:
		p.Verifier = wakeVerifier{}
		p.Open = func(ctx context.Context) (actions.Effect, error) { return f.openWake(ctx) }
		return p, true
	case actions.Prove:
		return f.prove(), true
	default:
		return actions.Part{}, false
	}
	p.Open = func(ctx context.Context) (actions.Effect, error) { return &effect{factory: f, verb: v, do: do}, nil }
	return p, true
}

// client sends the requests of one effect to one base.
func (f *factory) client(ctx context.Context, base, org string) (*client, error) {
	actor, err := wire.NewActor(wire.Config{Origins: []string{base}, Credential: f.opt.Act}, f.deps)
	if err != nil {
		return nil, err
	}
	if err := actor.Unlock(ctx); err != nil {
		return nil, err
	}
	return &client{factory: f, actor: actor, base: strings.TrimRight(base, "/"), org: org, header: http.Header{"Content-Type": {"application/json"}}}, nil
}
