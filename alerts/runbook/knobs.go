package runbook

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
)

// KnobValue is a knob with what is declared for a subject.
type KnobValue struct {
	Knob    Knob         `json:"knob"`
	Current backend.Safe `json:"current"` // NotDeclared when nobody tells
}

// NotDeclared is the current value of a knob that no source tells.
const NotDeclared = "not declared"

// Declared reports whether a source tells the knob's value.
func (v KnobValue) Declared() bool { return v.Current.String() != NotDeclared }

// sandboxKnobs are settings of cloudflare-sandbox alone.
var sandboxKnobs = [...]string{"destroyOnClose", "sleepAfter", "backupR2Binding"}

// frameworkKnobs are settings of a framework with a registry, which an agent SDK has not.
var frameworkKnobs = [...]string{"capabilities.fs.maxFileSizeMb", "maxGrepFileSizeMb", "workspaceOpenStrategy", "workspaceMaxConcurrentOpens"}

// declares reports whether a workspace of the subject declares a setting all the same.
func declares(s *subjectView, knob string) bool {
	return slices.ContainsFunc(s.workspaces, func(w *backend.Workspace) bool { return declared(knob, &w.WorkspaceFacts) != "" })
}

// knobs are the settings of a page that concern the platforms which take part in the subject; where one of them is not known, all.
func (s *subjectView) knobs(p *Page, d *Diagnosis) (out []KnobValue) {
	at := s.platforms()
	if d.platform != anywhere || len(at) == 0 || slices.Contains(at, anywhere) {
		return p.Fitting(d).values(s)
	}
	for _, one := range at {
		for _, v := range embedded(p.file, one, d.client).values(s) {
			if !slices.ContainsFunc(out, func(x KnobValue) bool { return x.Knob.Name == v.Knob.Name && x.Knob.Where == v.Knob.Where }) {
				out = append(out, v)
			}
		}
	}
	return out
}

// values fills in the declared values of a page's knobs.
func (p *Page) values(s *subjectView) []KnobValue {
	out := make([]KnobValue, 0, len(p.Knobs))
	provider := s.provider()
	for _, k := range p.Knobs {
		if provider != "" && provider != "cloudflare-sandbox" && slices.Contains(sandboxKnobs[:], k.Name.String()) && !declares(s, k.Name.String()) {
			continue
		}
		if k.Name.String() == backend.AgentTar && s.platform() == agentCloud && !slices.ContainsFunc(s.led, timedOut) {
			continue // only of a wait that ended
		}
		if k.Name.String() == "schemaVersion" && s.agentStates() {
			continue // of a framework; the state of an agent SDK has none
		}
		if slices.Contains(frameworkKnobs[:], k.Name.String()) && s.agentStates() && !declares(s, k.Name.String()) {
			continue
		}
		if k.Name.String() == "tmpdirRoot" && strings.HasPrefix(provider, "cloudflare") {
			continue // a directory of a host of its own, which such a workspace has not
		}
		out = append(out, KnobValue{k, s.current(k.Name.String())})
	}
	return out
}

// current is the value that is declared for the subject's workspaces; several different ones are named as such.
func (s *subjectView) current(knob string) backend.Safe {
	switch knob {
	case "WORKDIR":
		return s.currentDirs()
	case "pause_on_exit":
		return s.currentPause()
	case "snapshot":
		return s.currentSnapshot()
	case backend.AgentTar:
		return s.currentTar()
	}
	var seen []backend.Safe
	silent := 0
	for _, w := range s.workspaces {
		v := declared(knob, &w.WorkspaceFacts)
		if v == "" {
			silent++
			continue
		}
		seen = distinct(seen, backend.Clean(v, 60))
	}
	switch {
	case len(seen) == 0:
		return backend.Text(NotDeclared)
	case len(seen) > 3:
		return backend.Textf("%d different values", len(seen))
	case silent > 0:
		return backend.Textf("%s (%d not declared)", backend.Join(seen, ", "), silent)
	}
	return backend.Join(seen, ", ")
}

// currentPause is what the saved states of the subject say of the end of their sessions.
func (s *subjectView) currentPause() backend.Safe {
	return s.ofStates(true, func(x *backend.AgentState, b *backend.Sandbox) backend.Safe {
		on, ok := x.PauseOnExit.Get()
		switch {
		case !ok:
			return backend.Safe{}
		case on && b != nil && (b.Class == backend.SandboxRemoving || b.Class.Ended()):
			return backend.Text("true: the end of its session does not delete it")
		case x.PauseDefault:
			return backend.Text("false, the default: the saved state does not name it")
		}
		return backend.Clean(strconv.FormatBool(on), 10)
	})
}

// currentSnapshot is where the saved states of the subject keep the files.
func (s *subjectView) currentSnapshot() backend.Safe {
	return s.ofStates(false, func(x *backend.AgentState, _ *backend.Sandbox) backend.Safe { return x.Snapshot })
}

// currentTar is how long the SDK waits for an archive, as the saved states of the subject say.
func (s *subjectView) currentTar() backend.Safe {
	return s.ofStates(false, func(x *backend.AgentState, _ *backend.Sandbox) backend.Safe { return x.Waits(backend.AgentTar) })
}

// ofStates are the different values of the saved states of the subject: of itself, else of its sandboxes, former also of those before
// them, else of its session, whose sandbox nothing lists.
func (s *subjectView) ofStates(former bool, value func(*backend.AgentState, *backend.Sandbox) backend.Safe) backend.Safe {
	var seen []backend.Safe
	take := func(x *backend.Ref, b *backend.Sandbox) {
		if x == nil || x.Agent == nil {
			return
		}
		if v := value(x.Agent, b); !v.IsEmpty() {
			seen = distinct(seen, v)
		}
	}
	if own := s.State.Refs.Get(s.Subject); own != nil {
		take(own, s.State.SandboxNamed(own.Sandbox, own.Provider))
	} else {
		for _, b := range s.sandboxes {
			x := s.State.StateOn(b)
			if x == nil && former {
				x = s.State.StateNaming(b)
			}
			take(x, b)
		}
		for x := range s.State.Refs.All() {
			if len(s.sandboxes) == 0 && !s.sessionID.IsZero() && x.Session == s.sessionID {
				take(x, nil)
			}
		}
	}
	if len(seen) == 0 {
		return backend.Text(NotDeclared)
	}
	return backend.Join(seen, ", ")
}

// currentDirs are the working directories that the subject's sandboxes declare.
func (s *subjectView) currentDirs() backend.Safe {
	var seen []backend.Safe
	for _, b := range s.sandboxes {
		if !b.WorkDir.IsEmpty() {
			seen = distinct(seen, b.WorkDir)
		}
	}
	switch {
	case len(seen) == 0:
		return backend.Text(NotDeclared)
	case len(seen) > 3:
		return backend.Textf("%d different values", len(seen))
	}
	return backend.Join(seen, ", ")
}

// declared reads one knob from the facts; empty when they do not say it.
func declared(knob string, f *backend.WorkspaceFacts) string {
	switch knob {
	case "transientRetryAttempts":
		return known(f.RetryAttempts, strconv.Itoa)
	case "workspaceMaxConcurrentOpens":
		return known(f.Concurrency, strconv.Itoa)
	case "resetAfterMs":
		return known(f.ResetAfter, spanText)
	case "closeTimeoutMs":
		return known(f.CloseTimeout, spanText)
	case "sleepAfter":
		return known(f.SleepAfter, spanText)
	case "destroyOnClose":
		return known(f.DestroyOnClose, strconv.FormatBool)
	case "shareAcrossSessions":
		return known(f.ShareAcrossSessions, strconv.FormatBool)
	case "inheritWorkspaces":
		return known(f.InheritWorkspaces, strconv.FormatBool)
	case "capabilities.fs.maxFileSizeMb":
		return known(f.MaxFileSize, bytesText)
	case "namespace":
		return f.Namespace.Safe().String()
	case "id":
		return f.ProviderID.Safe().String()
	}
	return ""
}

// known writes a value, empty where it is not known.
func known[T any](v backend.Value[T], write func(T) string) string {
	if x, ok := v.Get(); ok {
		return write(x)
	}
	return ""
}

// spanText writes a duration as a configuration file does.
func spanText(d time.Duration) string {
	text, err := backend.Duration(d).MarshalText()
	if err != nil {
		return d.String()
	}
	return string(text)
}
