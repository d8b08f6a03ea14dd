package runbook

import (
	"strconv"
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

// values fills in the declared values of a page's knobs.
func (p *Page) values(s *subjectView) []KnobValue {
	out := make([]KnobValue, 0, len(p.Knobs))
	for _, k := range p.Knobs {
		out = append(out, KnobValue{k, s.current(k.Name.String())})
	}
	return out
}

// current is the value that is declared for the subject's workspaces; several different ones are named as such.
func (s *subjectView) current(knob string) backend.Safe {
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

// declared reads one knob from the facts, empty when it is not known or not one of theirs.
func declared(knob string, f *backend.WorkspaceFacts) string {
	switch knob {
	case "transientRetryAttempts":
		return whole(f.RetryAttempts)
	case "workspaceMaxConcurrentOpens":
		return whole(f.Concurrency)
	case "resetAfterMs":
		return span(f.ResetAfter)
	case "closeTimeoutMs":
		return span(f.CloseTimeout)
	case "sleepAfter":
		return span(f.SleepAfter)
	case "destroyOnClose":
		return truth(f.DestroyOnClose)
	case "shareAcrossSessions":
		return truth(f.ShareAcrossSessions)
	case "inheritWorkspaces":
		return truth(f.InheritWorkspaces)
	case "capabilities.fs.maxFileSizeMb":
		if n, ok := f.MaxFileSize.Get(); ok {
			return bytesText(n)
		}
	case "namespace":
		return f.Namespace.Safe().String()
	case "id":
		return f.ProviderID.Safe().String()
	}
	return ""
}

func whole(v backend.Value[int]) string {
	if n, ok := v.Get(); ok {
		return strconv.Itoa(n)
	}
	return ""
}

func span(v backend.Value[time.Duration]) string {
	d, ok := v.Get()
	if !ok {
		return ""
	}
	text, err := backend.Duration(d).MarshalText()
	if err != nil {
		return d.String()
	}
	return string(text)
}

func truth(v backend.Value[bool]) string {
	if b, ok := v.Get(); ok {
		return strconv.FormatBool(b)
	}
	return ""
}
