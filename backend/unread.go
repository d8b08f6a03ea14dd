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
