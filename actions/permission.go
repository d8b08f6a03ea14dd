package actions

import (
	"slices"

	"sandglass/backend"
)

// Access is what a viewer may do at most. Each level includes those before it.
type Access uint8

// The levels of access, from the least.
const (
	Look        Access = iota
	Acknowledge        // also acknowledge and silence alerts, and write bundles of evidence
	Act                // also carry out plans, as far as Grants go
)

// Grant allows a verb on a source. An empty field matches all of them.
type Grant struct {
	Verb   Verb
	Source string
}

// Permissions are what a viewer may do here. They only narrow what the configuration allows. The zero value may look.
type Permissions struct {
	Access Access
	Grants []Grant // of Act
	// Why says what narrows them and how to get more, instead of whom to ask.
	Why backend.Safe
}

// ReadOnly are the permissions of a program that was started to look.
func ReadOnly() Permissions {
	return Permissions{Why: backend.Text("this console is read-only: start it without --read-only")}
}

// Everything allows what the configuration allows.
func Everything() Permissions { return Permissions{Access: Act, Grants: []Grant{{}}} }

// Acts reports whether they allow the verb on the source.
func (p Permissions) Acts(v Verb, source string) bool {
	return p.Access >= Act && slices.ContainsFunc(p.Grants, func(g Grant) bool {
		return (g.Verb == "" || g.Verb == v) && (g.Source == "" || g.Source == source)
	})
}

// Denied says that the person may not do something of that access level, and what to do about it; empty: they may.
func (p Permissions) Denied(name backend.Safe, needed Access) backend.Safe {
	switch {
	case p.Access >= needed:
		return backend.Safe{}
	case !p.Why.IsEmpty():
		return p.Why
	}
	may, permission := backend.Text("only look"), backend.Text("acknowledge")
	if p.Access == Acknowledge {
		may = backend.Text("look and acknowledge, not act")
	}
	if needed == Act {
		permission = backend.Text("act")
	}
	return backend.Textf("%s may %s here; ask the operator of this Sandglass for the permission to %s", name, may, permission)
}

// denied says that the person may not do the verb on the source, and what to do about it; empty: they may.
func (p Permissions) denied(name backend.Safe, v Verb, source string) backend.Safe {
	switch why := p.Denied(name, Act); {
	case !why.IsEmpty():
		return why
	case p.Acts(v, source):
		return backend.Safe{}
	}
	verb, on := backend.Clean(string(v), 40), backend.Clean(source, 80)
	return backend.Textf("%s may not %s on %s; ask the operator of this Sandglass for the permission to %s there", name, verb, on, verb)
}
