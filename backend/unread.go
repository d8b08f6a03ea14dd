package backend

// Unread is how many sessions could not be read for one kind of error, and the error of one of them. ErrAbsent stands for a 404
// that is not the documented one, of a session that may run.
type Unread struct {
	Kind     ErrorKind `json:"kind"`
	Sessions int       `json:"sessions"`
	Example  Safe      `json:"example"` // the session's id and what is wrong
}

// Text says how many sessions, what happened to them, and names one.
func (u *Unread) Text() Safe {
	return Textf("%s %s, for example %s", Clean(Counted(u.Sessions, "session", "sessions"), 40), u.Kind.happened(), u.Example)
}

// Unlisted is a session that no list names any more though nothing says that it ended.
type Unlisted struct {
	Session ID   `json:"session"`
	Why     Safe `json:"why,omitzero"` // why its own route does not tell; empty: it answers there, so it runs
}

// Silent reports whether the session's own route does not tell either.
func (u *Unlisted) Silent() bool { return !u.Why.IsEmpty() }

// UnlistedTexts name the sessions that answer, and those of which nothing tells.
func UnlistedTexts(all []Unlisted) []Safe {
	var runs, silent []ID
	var example Safe
	for i := range all {
		if u := &all[i]; !u.Silent() {
			runs = append(runs, u.Session)
		} else if silent = append(silent, u.Session); len(silent) == 1 {
			example = u.Why
		}
	}
	var out []Safe
	if n := len(runs); n > 0 {
		out = append(out, Textf("%s that no list names (%s): the list is not whole", Clean(Counted(n, "session runs", "sessions run"), 60), FirstIDs(runs)))
	}
	if n := len(silent); n > 0 {
		out = append(out, Textf("%s the list, and %s own %s cannot be read (%s): %s", Clean(Counted(n, "session left", "sessions left"), 60),
			Text(oneMany(n, "its", "their")), Text(oneMany(n, "route", "routes")), FirstIDs(silent), example))
	}
	return out
}

func oneMany(n int, one, many Literal) Literal {
	if n == 1 {
		return one
	}
	return many
}

// FirstIDs names the first of some ids, and says how many more there are.
func FirstIDs(ids []ID) Safe {
	var names []Safe
	for _, id := range ids[:min(len(ids), 5)] {
		names = append(names, id.Safe())
	}
	if more := len(ids) - len(names); more > 0 {
		return Textf("%s and %d more", Join(names, ", "), more)
	}
	return Join(names, ", ")
}

// UnreadText lists what could not be read, by kind of error.
func UnreadText(all []Unread) Safe {
	var parts []Safe
	for i := range all {
		parts = append(parts, all[i].Text())
	}
	return Join(parts, "; ")
}

// happened says of a kind of error what happened to what was asked.
func (k ErrorKind) happened() Safe {
	switch k {
	case ErrTimeout:
		return Text("did not answer in time (timeout)")
	case ErrUnauthorised:
		return Text("refused the credential (unauthorised)")
	case ErrInvalid:
		return Text("answered what cannot be read (invalid)")
	case ErrThrottled:
		return Text("refused for load (throttled)")
	case ErrUnreachable:
		return Text("failed (unreachable, or a server error)")
	case ErrAbsent:
		return Text("answered a 404 that is not the documented one")
	case ErrGone:
	}
	return Textf("failed (%s)", k)
}
