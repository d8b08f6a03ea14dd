package tmpdir

import (
	"slices"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// Kind is what can be done to scratch directories: clean sets them aside, purge removes what was set aside, undo puts
// it back. Whoever may clean may purge and undo what was cleaned.
func Kind() actions.Kind {
	return actions.Kind{
		Name: "tmpdir",
		Specs: []actions.Spec{
			{Verb: actions.Clean, Of: backend.KindTmpdir, Title: "clean", Effect: "the directory is renamed and waits; its space is free when it is removed: after the grace period, or by purge",
				Undo: "the verb undo restores its name until the grace period ends", Gesture: actions.GestureCount, Cap: actions.CapAbsolute, Most: mostTarget, PerMinute: 600},
			{Verb: actions.Undo, Of: backend.KindTmpdir, Title: "undo clean", Effect: "restores the name of a quarantined directory",
				Undo: "clean quarantines it again once its age allows", Gesture: actions.GestureYes, Cap: actions.CapAbsolute, Most: mostTarget, PerMinute: 600},
			{Verb: actions.Purge, Of: backend.KindTmpdir, Title: "purge", Effect: "removes quarantined directories for good",
				Gesture: actions.GestureCount, Cap: actions.CapAbsolute, Most: mostTarget, PerMinute: 600},
		},
		Defaults: func() any {
			o := defaults()
			return &o
		},
		Build: build,
	}
}

// scratcher is the read ability of the source kind "tmpdir" that its actions need.
type scratcher interface{ Scratch() hostfs.Scratch }

// tool is what all verbs on one source share.
type tool struct {
	site    actions.Site
	o       Options
	scratch hostfs.Scratch
	proc    hostfs.Proc
	sys     string // the /sys tree
	self    uint32 // the user that runs this
	owner   uint32 // whom the directories must belong to
}

// build makes the parts of the allowed verbs.
func build(site actions.Site) (map[actions.Verb]actions.Part, map[actions.Verb]backend.Safe, error) {
	o := defaults()
	if err := site.Options.Decode(&o); err != nil {
		return nil, nil, err
	}
	if err := o.check(site.Options); err != nil {
		return nil, nil, err
	}
	parts, missing := map[actions.Verb]actions.Part{}, map[actions.Verb]backend.Safe{}
	may := slices.Contains(site.Allowed, actions.Clean)
	verbs := []actions.Verb{}
	for _, v := range []actions.Verb{actions.Clean, actions.Purge, actions.Undo} {
		if may || slices.Contains(site.Allowed, v) {
			verbs = append(verbs, v)
		}
	}
	t, why := newTool(site, o)
	for _, v := range verbs {
		switch {
		case !why.IsEmpty():
			missing[v] = why
		case v == actions.Clean && o.SessionLifetime == 0:
			missing[v] = backend.Text("session_lifetime is not set (how long a paused session may still be continued): set it in its [[source]] (for example \"168h\"), or give --session-lifetime")
		default:
			part := t.part(v)
			if v == actions.Clean {
				part.Undo = "the verb undo restores its name for " + o.CleanGrace.String()
			}
			parts[v] = part
		}
	}
	return parts, missing, nil
}

// newTool is everything that does not depend on the verb; why says what keeps all of them from being offered.
func newTool(site actions.Site, o Options) (t *tool, why backend.Safe) {
	if why := unsupported(); !why.IsEmpty() {
		return nil, why
	}
	s, ok := site.Source.(scratcher)
	if !ok {
		return nil, backend.Text("the source does not say where its scratch directories are")
	}
	t = &tool{site: site, o: o, scratch: s.Scratch()}
	t.proc, t.sys = t.scratch.Host.Proc(), t.scratch.Host.Sys()
	if !hostfs.NeverSetAside(t.scratch.Pattern) {
		return nil, backend.Textf("the pattern %s could match the names of quarantined directories: let it begin with a letter or digit, as helix-ws-* does",
			backend.Clean(t.scratch.Pattern, 100))
	}
	t.self, t.owner = whose(site, t.scratch)
	return t, backend.Safe{}
}
