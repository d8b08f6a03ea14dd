package helix

import (
	"cmp"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// unreadCount counts the sessions that cannot be read by kind of error.
type unreadCount struct {
	asked int
	kinds map[backend.ErrorKind]*backend.Unread
	first map[backend.ErrorKind]backend.ID
}

// add counts a session that cannot be read. The example is the one with the least id, so that it stays the same.
func (c *unreadCount) add(s *Source, id backend.ID, problem error) {
	kind, _, _ := explain(problem)
	c.addAs(s, kind, id, problem)
}

func (c *unreadCount) addAs(s *Source, kind backend.ErrorKind, id backend.ID, problem error) {
	if c.kinds == nil {
		c.kinds, c.first = map[backend.ErrorKind]*backend.Unread{}, map[backend.ErrorKind]backend.ID{}
	}
	_, _, what := explain(problem)
	u := c.kinds[kind]
	if u == nil {
		u = &backend.Unread{Kind: kind}
		c.kinds[kind] = u
	}
	if u.Sessions++; u.Sessions == 1 || !id.IsZero() && id.Compare(c.first[kind]) < 0 {
		c.first[kind] = id
		u.Example = backend.Textf("%s: %s", id.Safe(), s.client.Cleaner().Clean(what, 160))
		if id.IsZero() {
			u.Example = s.client.Cleaner().Clean(what, 160)
		}
	}
}

func (c *unreadCount) fill(r *backend.Reading) {
	r.Asked = c.asked
	for _, u := range c.kinds {
		r.Unread = append(r.Unread, *u)
	}
	stable.Sort(r.Unread, func(a, b backend.Unread) int { return cmp.Compare(a.Kind, b.Kind) })
}

// countUnread counts the sessions of the per-session mode that cannot be read, entries of its list without a usable id among them. A 404 that is not the documented one counts
// where the session may run: a list does not call it over, or its registry was read before. The caller holds the lock.
func (s *Source) countUnread(r *backend.Reading) {
	var c unreadCount
	for _, err := range s.discovery.bad {
		c.asked++
		c.add(s, backend.ID{}, err)
	}
	for _, t := range s.sessions {
		if t.answer != backend.AnswerNone {
			c.asked++
		}
		switch {
		case !t.bad() || t.problem == nil:
		case t.answer == backend.AnswerNoRoute && (t.listed == nil && len(t.workspaces) == 0 || t.listed != nil && !t.listed.running.Or(true)):
		case t.answer == backend.AnswerNoRoute:
			c.addAs(s, backend.ErrAbsent, t.id, t.problem)
		default:
			c.add(s, t.id, t.problem)
		}
	}
	c.fill(r)
}
