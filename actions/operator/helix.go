package operator

import (
	"context"
	"slices"
	"strings"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// HelixOptions are the keys of [[source]] that acting on a helix source reads.
type HelixOptions struct {
	Act   wire.Credential `toml:"act" doc:"the acting credential: another one than for reading, read only while a confirmed plan runs"`
	Reset Call            `toml:"reset" doc:"how a failed workspace is reset (docs/helix-operator-routes.md); without url and command the verb reset is not available"`
}

// HelixKind is what can be done to helix sources. fingerprint identifies the cause of a failure, as in alerts.
func HelixKind(fingerprint func(backend.Safe) string) actions.Kind {
	defaults := func() *HelixOptions {
		return &HelixOptions{Act: wire.Credential{Header: "Authorization"}, Reset: callDefaults()}
	}
	return actions.Kind{
		Name:  "helix",
		Specs: []actions.Spec{resetSpec()},
		Lacks: map[actions.Verb]backend.Safe{actions.Shell: backend.Text("a Helix server runs no command for Sandglass; " +
			"add the container engine of its sandboxes as a source of kind docker")},
		Defaults: func() any { return defaults() },
		Build: func(site actions.Site) (map[actions.Verb]actions.Part, map[actions.Verb]backend.Safe, error) {
			o := defaults()
			if err := site.Options.Decode(o); err != nil {
				return nil, nil, err
			}
			if err := o.check(site.Options); err != nil {
				return nil, nil, err
			}
			if o.Reset.IsZero() {
				return nil, map[actions.Verb]backend.Safe{actions.Reset: backend.Text("a Helix server has no reset route of its own; add one " +
					"(docs/helix-operator-routes.md) and name it under [source.reset]")}, nil
			}
			return map[actions.Verb]actions.Part{actions.Reset: resetPart(o, site.Deps, fingerprint)}, nil, nil
		},
	}
}

func (o *HelixOptions) check(opts backend.Options) error {
	if err := o.Act.CheckAt(opts, "act"); err != nil {
		return err
	}
	return o.Reset.check(opts, "reset.", backend.KindWorkspace, o.Act)
}

func resetSpec() actions.Spec {
	return actions.Spec{Verb: actions.Reset, Of: backend.KindWorkspace, Title: "reset",
		Effect:  "the registry forgets the failure and opens the workspace again at its next use",
		Gesture: actions.GestureYes, Cap: actions.CapAbsolute}
}

func resetPart(o *HelixOptions, deps backend.Deps, fingerprint func(backend.Safe) string) actions.Part {
	return actions.Part{
		Targets:  &targetReader{of: backend.KindWorkspace, call: &o.Reset, credential: o.Act, judge: resettable, fingerprint: fingerprint, ref: slices.Contains(o.Reset.uses(), factRef)},
		Verifier: condition{kind: condSuccess}.verifier(fingerprint),
		Open: func(ctx context.Context) (actions.Effect, error) {
			return o.Reset.open(ctx, deps, o.Act)
		},
	}
}

// resettable says why a workspace is not for reset; empty: it is.
func resettable(w *backend.Workspace) backend.Safe {
	switch w.Class {
	case backend.ClassFailed:
		if backend.NoContainer(w.LastError.String()) {
			return backend.Text("its container was deleted: a reset looks for the same one and fails again; start a fresh session")
		}
		return backend.Safe{}
	case backend.ClassEvicted:
		return backend.Text("evicted, not failed: the registry recovers it by itself at its next use; help where it was evicted (capacity, quota, memory)")
	case backend.ClassUnknown:
		if works(w.Reported.String()) {
			return notFailed(w)
		}
		return backend.Textf("nothing says what its state %v means; reset is for failed ones (map the word with states)", spoken(w.Reported))
	case backend.ClassHealthy, backend.ClassOpening, backend.ClassClosed:
	}
	return notFailed(w)
}

func notFailed(w *backend.Workspace) backend.Safe {
	return backend.Textf("it is reported %v, not failed: nothing to reset", spoken(w.Reported))
}

// works reports whether the word for a state says in plain English that it did not fail, mapped or not.
func works(word string) bool {
	switch strings.ToLower(word) {
	case "open", "ready", "healthy", "running", "active", "opening", "starting", "pending", "declared", "closed":
		return true
	}
	return false
}
