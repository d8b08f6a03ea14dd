package cloudflare

import (
	"context"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
	"sandglass/backend/wire"
)

// longest is how long a probe or a repair of one sandbox may take: the first request waits for its container, after
// the passive reads.
const longest = 3*bridge.ReadWithin + bridge.FirstWithin + 8*bridge.NextWithin

// Options are the keys of a cloudflare source that its actions read.
type Options struct {
	Act wire.Credential `toml:"act" doc:"the key of the bridge for acting, read only while a confirmed plan runs; without this table that of [source.bridge]"`
}

func defaults() Options { return Options{Act: wire.Credential{Header: "Authorization"}} }

// platform is the read ability of a source that says where its bridge is.
type platform interface {
	Bridge() (base, ops string, key wire.Credential)
}

// Kind is what can be done to sources of kind "cloudflare".
func Kind() actions.Kind {
	return actions.Kind{Name: "cloudflare", Specs: specs(), Defaults: func() any { o := defaults(); return &o }, Build: build,
		Lacks: map[actions.Verb]backend.Safe{actions.Shell: backend.Text("Sandglass does not use the terminal of the bridge, which starts and bills a container where none runs; " +
			"probe runs short commands in a sandbox")}}
}

const (
	probeCost  = "runs at most 7 short commands" + startCost
	repairCost = "runs at most 11 short commands, as it looks before and afterwards" + startCost
	startCost  = "; the first request waits up to 160s for a container, and starts and bills one where none runs"
)

// specs lists the verbs in the order of the least harm.
func specs() []actions.Spec {
	return []actions.Spec{
		{Verb: actions.Probe, Of: backend.KindSandbox, Title: "probe", Effect: "runs true, ls and readlink in /workspace and reads one file; if true does not begin, tries a new session to tell why",
			Cost: probeCost, Undo: "nothing: its own session is removed", Gesture: actions.GestureTwice, Cap: actions.CapAbsolute, Most: 20, PerMinute: 20},
		{Verb: actions.Repair, Of: backend.KindSandbox, Title: "repair", Effect: "makes the directory /workspace again and proves that a command runs in it: a missing one through the file .keep in it or by mkdir, a link to nothing by removing the link",
			Cost: repairCost, Undo: "remove the directory; make the link again with ln -s", Gesture: actions.GestureYes, Cap: actions.CapAbsolute, Most: 20, PerMinute: 20},
		{Verb: actions.Stop, Of: backend.KindSandbox, Title: "stop", Effect: "asks its container to end, through your operator route; its files are lost, its id stays",
			Gesture: actions.GestureName, Cap: actions.CapShare, Empties: true},
		{Verb: actions.Destroy, Of: backend.KindSandbox, Title: "destroy", Effect: "removes its container with all files for good",
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
	parts, missing := map[actions.Verb]actions.Part{}, map[actions.Verb]backend.Safe{}
	src, ok := site.Source.(platform)
	f := &factory{deps: site.Deps, key: o.Act, first: bridge.FirstWithin, next: bridge.NextWithin, ended: 20 * time.Second}
	if ok {
		base, ops, key := src.Bridge()
		f.base, f.ops = base, bridge.Ops{Prefix: ops}
		if f.key.IsZero() {
			f.key = key
		}
	}
	f.deps.Deadline = bridge.FirstWithin
	if f.deps.Cleaner == nil {
		f.deps.Cleaner = backend.NewCleaner()
	}
	for _, v := range site.Allowed {
		switch {
		case !ok || f.base == "":
			missing[v] = backend.Text("no bridge: the account API can act on no sandbox; deploy the bridge Worker and set bridge_url")
		case f.key.IsZero():
			missing[v] = backend.Text("no key of the bridge: add [source.act] with env, file or command")
		case v == actions.Stop && f.ops.Prefix == "":
			missing[v] = backend.Text("the bridge has no route for it: add the operator routes to its Worker and set ops_prefix")
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
	deps backend.Deps
	key  wire.Credential
	base string
	ops  bridge.Ops
	// first and next bound the first request to a sandbox and each further one; ended is how long an end is waited for.
	first, next, ended time.Duration
}

func (f *factory) part(v actions.Verb) (actions.Part, bool) {
	p := actions.Part{Targets: targetReader{v, f.ops.Prefix != ""}}
	var do operation
	switch v {
	case actions.Probe:
		do, p.Longest, p.Now = (*client).probe, longest, lookSpec(f.deps.ID)
	case actions.Repair:
		do, p.Longest = (*client).repair, longest
	case actions.Stop:
		do, p.Verifier = (*client).stop, ended{v}
	case actions.Destroy:
		do, p.Longest, p.Verifier = (*client).destroy, longest, ended{v}
	default:
		return actions.Part{}, false
	}
	p.Open = func(ctx context.Context) (actions.Effect, error) { return f.open(ctx, v, do) }
	return p, true
}

func (f *factory) open(ctx context.Context, v actions.Verb, do operation) (*effect, error) {
	actor, err := wire.NewActor(wire.Config{Origins: []string{f.base}, Credential: f.key}, f.deps)
	if err != nil {
		return nil, err
	}
	if err := actor.Unlock(ctx); err != nil {
		return nil, err
	}
	return &effect{client: &client{factory: f, actor: actor, told: func(actions.Step) {}}, verb: v, do: do}, nil
}

// now is the clock of the program.
func (f *factory) now() time.Time { return f.deps.Now() }
