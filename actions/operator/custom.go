package operator

import (
	"context"
	"fmt"
	"slices"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// Block are the keys of an [[action]], beside its name.
type Block struct {
	Of        string   `toml:"of" doc:"what it is done to: session, workspace or sandbox"`
	Effect    string   `toml:"effect" doc:"what it does to one of them, in the words that plans show"`
	Loses     string   `toml:"loses" doc:"what each of them loses for good; empty: nothing"`
	Undo      string   `toml:"undo" doc:"how it is taken back; empty: it cannot be"`
	States    []string `toml:"states" doc:"reported states that it is for; empty: any"`
	Confirm   string   `toml:"confirm" doc:"the lightest confirmation of one target: twice (its key), yes, name or count; several targets and production always ask for the count"`
	PerMinute int      `toml:"per_minute" doc:"how many targets are acted on in a minute, at most"`
	Verify    string   `toml:"verify" doc:"what a later reading must show: success advances, ref == planned, state == WORD, state != WORD, gone, or none"`
	Call
	Act wire.Credential `toml:"act" doc:"the acting credential, sent to the url only and read only while a confirmed plan runs"`
}

// BlockDefaults are the keys of an [[action]] that says nothing.
func BlockDefaults() *Block {
	return &Block{Confirm: "yes", PerMinute: 60, Verify: condNone, Call: callDefaults(), Act: wire.Credential{Header: "Authorization"}}
}

// Verb is a verb that the configuration defines.
type Verb struct {
	spec  actions.Spec
	block *Block
	cond  condition
}

// maxText bounds a text of an [[action]] in characters, and fastest what per_minute can allow.
const (
	maxText = 300
	fastest = 600
)

// gestures are the words of the key confirm.
var gestures = [...]struct {
	word string
	is   actions.Gesture
}{{"twice", actions.GestureTwice}, {"yes", actions.GestureYes}, {"name", actions.GestureName}, {"count", actions.GestureCount}}

// NewVerb reads an [[action]]. Errors carry the place of the key that is wrong.
func NewVerb(name string, opts backend.Options) (*Verb, error) {
	b := BlockDefaults()
	if err := opts.Decode(b); err != nil {
		return nil, err
	}
	v := &Verb{block: b, spec: actions.Spec{Verb: actions.Verb(name), Of: backend.Kind(b.Of), Title: name, PerMinute: b.PerMinute,
		Effect: backend.Clean(b.Effect, maxText).String(), Undo: backend.Clean(b.Undo, maxText).String(), Cap: actions.CapShare, Custom: true}}
	if !slices.Contains([]backend.Kind{backend.KindSession, backend.KindWorkspace, backend.KindSandbox}, v.spec.Of) {
		return nil, opts.Refuse("of", "%q cannot be acted on; write session, workspace or sandbox", b.Of)
	}
	known := false
	for _, g := range gestures {
		if g.word == b.Confirm {
			v.spec.Gesture, known = g.is, true
		}
	}
	switch {
	case !known:
		return nil, opts.Refuse("confirm", "unknown confirmation %q; write twice, yes, name or count", b.Confirm)
	case b.Effect == "":
		return nil, opts.Refuse("effect", "say what it does to one %s: the operator reads it before confirming", b.Of)
	case b.PerMinute < 1 || b.PerMinute > fastest:
		return nil, opts.Refuse("per_minute", "%d is outside 1 to %d", b.PerMinute, fastest)
	case b.Call.IsZero():
		return nil, opts.Refuse("url", "give a url or a command")
	}
	var err error
	if v.cond, err = parseCondition(b.Verify, v.spec.Of); err != nil {
		return nil, opts.Refuse("verify", "%v", err)
	}
	if err := b.Act.CheckAt(opts, "act"); err != nil {
		return nil, err
	}
	if err := b.check(opts, "", v.spec.Of, b.Act); err != nil {
		return nil, err
	}
	return v, nil
}

// Part performs the verb on a source of any kind. fingerprint identifies the cause of a failure, as in alerts.
func (v *Verb) Part(deps backend.Deps, fingerprint func(backend.Safe) string) actions.Part {
	l := &targetReader{of: v.spec.Of, call: &v.block.Call, credential: v.block.Act, loses: backend.Clean(v.block.Loses, maxText), only: v.block.States,
		ref: v.cond.kind == condRef || slices.Contains(v.block.uses(), factRef)}
	if v.cond.kind == condSuccess {
		l.fingerprint = fingerprint // the verdict compares causes, so a target with another one is another target
	}
	return actions.Part{Targets: l, Verifier: v.cond.verifier(fingerprint), Open: func(ctx context.Context) (actions.Effect, error) {
		return v.block.open(ctx, deps, v.block.Act)
	}}
}

// Custom is a kind of sources with the operator's verbs added. A kind that can do nothing by itself is
// actions.Kind{Name: …}.
func Custom(k actions.Kind, fingerprint func(backend.Safe) string, verbs ...*Verb) actions.Kind {
	own := k.Build
	k.Specs = slices.Clone(k.Specs)
	for _, v := range verbs {
		k.Specs = append(k.Specs, v.spec)
	}
	k.Build = func(site actions.Site) (map[actions.Verb]actions.Part, map[actions.Verb]backend.Safe, error) {
		allowed := site.Allowed
		parts := make(map[actions.Verb]actions.Part)
		site.Allowed = nil
		for _, word := range allowed {
			if i := slices.IndexFunc(verbs, func(v *Verb) bool { return v.spec.Verb == word }); i >= 0 {
				parts[word] = verbs[i].Part(site.Deps, fingerprint)
			} else {
				site.Allowed = append(site.Allowed, word)
			}
		}
		if len(site.Allowed) == 0 {
			return parts, nil, nil
		}
		if own == nil {
			return nil, nil, fmt.Errorf("%s: sources of kind %[3]s do not support %[2]v", site.Deps.ID, site.Allowed, k.Name)
		}
		built, missing, err := own(site)
		for word, p := range built {
			parts[word] = p
		}
		return parts, missing, err
	}
	return k
}
