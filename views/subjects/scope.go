package subjects

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
)

// mostOthers is how many other sources are named where there is little room.
const mostOthers = 3

// others names the other sources with the same rule and cause that the scope does not count, with the part and state of each;
// empty where there is none.
func others(a *alerts.Alert, c *views.Snapshot) string {
	if len(a.Subjects) == 0 || a.Subjects[0].Key.Kind == backend.KindSource {
		return ""
	}
	together := outage(a, c)
	var parts []string
	n := 0
	for _, x := range c.Board.Alerts {
		if !sameOutage(a, x) || slices.Contains(together, x) {
			continue
		}
		if n++; n <= mostOthers {
			parts = append(parts, x.Source+" "+kit.Number(x.SubjectCount)+otherState(x))
		}
	}
	if n > mostOthers {
		parts = append(parts, number(n-mostOthers, "more source"))
	}
	if n == 0 {
		return ""
	}
	return "; same cause: " + strings.Join(parts, ", ")
}

// unevaluated names the other sources with subjects of the alert's kind on which its rule is not evaluated: the scope does not count
// them. A source that is down has an alert that says so.
func unevaluated(a *alerts.Alert, c *views.Snapshot) string {
	var names []string
	for _, x := range c.Board.Blind {
		if h := c.State.Source(x.Source); !x.Part && x.Rule == a.Rule && x.Source != a.Source && h != nil && h.Status != fleet.StatusDown && len(a.Subjects) > 0 && c.State.CountOf(a.Subjects[0].Key.Kind, x.Source) > 0 && !slices.Contains(names, x.Source) {
			names = append(names, x.Source)
		}
	}
	switch n := len(names); {
	case n == 0:
		return ""
	case n > mostOthers:
		return "; " + number(n, "other source") + " not evaluated"
	}
	return "; " + strings.Join(names, ", ") + " not evaluated"
}

// outage is an alert with those of other sources that have its rule, cause and state: their subjects are counted together. It is
// the alert alone where that is about one subject.
func outage(a *alerts.Alert, c *views.Snapshot) []*alerts.Alert {
	list := []*alerts.Alert{a}
	if a.SubjectCount < 2 || len(a.Subjects) == 0 || !placedKind(a) {
		return list
	}
	for _, x := range c.Board.Alerts {
		if sameOutage(a, x) && x.State == a.State && placedKind(x) && x.Subjects[0].Key.Kind == a.Subjects[0].Key.Kind {
			list = append(list, x)
		}
	}
	return list
}

// placedKind reports whether all listed subjects of an alert are of one kind, that of no source, and of its source.
func placedKind(a *alerts.Alert) bool {
	return len(a.Subjects) > 0 && a.Source != "" && !slices.ContainsFunc(a.Subjects, func(s alerts.Subject) bool {
		return s.Key.Kind != a.Subjects[0].Key.Kind || s.Key.Kind == backend.KindSource || s.Key.Source != a.Source
	})
}

// affected is how many subjects an alert has with those of other sources.
func affected(a *alerts.Alert, c *views.Snapshot) (n int) {
	for _, x := range outage(a, c) {
		n += x.SubjectCount
	}
	return n
}

// extent is what tells how large an alert is beside its subjects: a rate, what is in use, what is left behind.
func extent(a *alerts.Alert, c *views.Snapshot) string {
	switch a.Rule {
	case "audit-saturation":
		for _, e := range a.Evidence {
			if n, known := e.Value.Get(); known && e.Unit == "1/s" {
				return "; " + atLeast(e.Text) + kit.Number(int(n+0.5)) + " rejected commands a second"
			}
		}
	case "capacity", "eviction-storm":
		return inUse(a, c)
	case "tmpdir-close-failed", "tmpdir-pileup":
		return leftBehind(c)
	case "hammered-and-failing":
		return stillWork(a, c)
	}
	return ""
}

// stillWork counts the other workspaces of the alert's provider and source that succeeded since it began: whether an outage
// concerns all of them.
func stillWork(a *alerts.Alert, c *views.Snapshot) string {
	began := a.Bounds.Latest
	if began.IsZero() || a.Providers > 1 || a.Left() > 0 {
		return "" // whether others use the same is not known
	}
	own, provider := make(map[backend.Key]bool, len(a.Subjects)), ""
	for i := range a.Subjects {
		k := a.Subjects[i].Key
		if own[k] = true; i == 0 {
			if w := c.State.Workspace(k); w != nil {
				provider = w.Provider.String()
			}
		}
	}
	n, tried := 0, 0
	for w := range c.State.Workspaces.All() {
		if w.Key.Source != a.Source || own[w.Key] || w.Provider.String() != provider {
			continue
		}
		switch {
		case w.LastSuccessAt.Or(time.Time{}).After(began):
			n++
		case w.LastAttemptAt.Or(time.Time{}).After(began):
			tried++
		}
	}
	switch {
	case provider == "", n == 0 && tried == 0: // others that nobody used say nothing
		return ""
	case n == 0:
		return "; tried since: " + kit.Count(tried, "other", "others") + " of " + provider + ", none worked"
	}
	return "; " + kit.Count(n, "other", "others") + " of " + provider + " worked since"
}

// atLeast carries over that a figure is a lower bound.
func atLeast(s backend.Safe) string {
	if strings.Contains(s.String(), "at least ") {
		return "at least "
	}
	return ""
}

// inUse is how many instances are in use, as the alert about the capacity of the same source says it.
func inUse(a *alerts.Alert, c *views.Snapshot) string {
	for _, x := range c.Board.Alerts {
		if x.Rule != "capacity" || x.Source != a.Source || x.State == alerts.StateEnded || x.State == alerts.StateResolved {
			continue
		}
		for _, e := range x.Evidence {
			if n, _, is := strings.Cut(e.Text.String(), " in use, "); is && e.Unit == "share" {
				return "; " + n + " instances in use"
			}
		}
	}
	return ""
}

// leftBehind counts the scratch directories, and those that an alert calls unowned.
func leftBehind(c *views.Snapshot) string {
	n, unowned := c.State.Tmpdirs.Len(), 0
	for _, x := range c.Board.Alerts {
		if x.Rule == "tmpdir-orphaned" && x.State == alerts.StateFiring {
			unowned += x.SubjectCount
		}
	}
	s := ""
	if n > 0 {
		s = "; " + kit.Count(n, "scratch directory", "scratch directories") + " in all"
	}
	if n > 0 && unowned > 0 {
		s += ", " + kit.Number(unowned) + " of them without an owner"
	}
	return s
}

// sameOutage reports whether two alerts are about one cause on two sources.
func sameOutage(a, x *alerts.Alert) bool {
	over := x.State == alerts.StateEnded || x.State == alerts.StateResolved
	return !over && x.Rule == a.Rule && x.Fingerprint == a.Fingerprint && x.Source != a.Source
}

// otherState is the state of an alert that does not fire.
func otherState(x *alerts.Alert) string {
	if x.State == alerts.StateFiring {
		return ""
	}
	return " " + StateWord(x.State)
}

// alike are the other alerts about one subject each that have the rule, the cause and the state of an alert, the oldest first.
func alike(a *alerts.Alert, c *views.Snapshot) []*alerts.Alert {
	var list []*alerts.Alert
	if a.SubjectCount != 1 {
		return nil
	}
	for _, x := range c.Board.Alerts {
		if x != a && x.Rule == a.Rule && x.State == a.State && x.SubjectCount == 1 && x.Cause == a.Cause {
			list = append(list, x)
		}
	}
	stable.Sort(list, func(x, y *alerts.Alert) int { return began(x).Compare(began(y)) })
	return list
}

// longestName is how many cells the name of an alert's only subject gets.
const longestName = 44

// onlyOne reports whether an alert counts one subject, the first in its list: others in it are pending at most.
func onlyOne(a *alerts.Alert) bool { return a.SubjectCount == 1 && len(a.Subjects) == 1+a.Pending }

// scope says what the alert is about: its only subject by name, or how many there are.
func scope(a *alerts.Alert, c *views.Snapshot) string {
	s, one := howMany(a, c), onlyOne(a)
	source := one && a.Subjects[0].Key.Kind == backend.KindSource
	all := outage(a, c)
	switch {
	case len(all) > 1:
		s = inAll(a, all, c)
	case a.Source != "" && !source:
		s += " on " + a.Source
	}
	if a.Pending > 0 {
		s += "; " + kit.Number(a.Pending) + " more pending"
	}
	if one {
		s += ownerOf(a.Subjects[0].Key, c.State)
		if n := len(alike(a, c)); n > 0 {
			s += "; " + kit.Count(n, "other", "others") + " alike"
		}
		return s
	}
	sessions := 0
	for _, x := range all {
		sessions += x.Sessions
	}
	var of []string
	if sessions > 0 && sessions != affected(a, c) && (len(a.Subjects) == 0 || a.Subjects[0].Key.Kind != backend.KindSession) {
		of = append(of, number(sessions, "session"))
	}
	if a.Tenants > 1 && len(all) == 1 { // those of other sources may be the same
		of = append(of, number(a.Tenants, "tenant"))
	}
	if a.Providers > 1 && len(all) == 1 {
		of = append(of, number(a.Providers, "provider"))
	}
	if len(of) > 0 {
		s += "; " + strings.Join(of, ", ")
	}
	return s
}

// inAll counts the subjects of an outage, in all and on each of its sources.
func inAll(a *alerts.Alert, all []*alerts.Alert, c *views.Snapshot) string {
	var parts []string
	for i, x := range all {
		if i == mostOthers && len(all) > mostOthers+1 {
			parts = append(parts, "the rest on "+number(len(all)-i, "more source"))
			break
		}
		part, k := kit.Number(x.SubjectCount), x.Subjects[0].Key
		if n := watched(k, c); n >= x.SubjectCount {
			part += " of " + kit.Number(n)
		}
		parts = append(parts, part+" on "+x.Source)
	}
	return counted(affected(a, c), a.Subjects[0].Key.Kind) + ": " + strings.Join(parts, ", ")
}

// ownerOf names the session and tenant that a sandbox belongs to, or the tenant of a workspace or session, as far as they are read.
func ownerOf(k backend.Key, st *fleet.State) string {
	s, session := "", k.ID
	box := st.Sandbox(k)
	switch {
	case box != nil && box.Session.IsZero():
		return ""
	case box != nil:
		session = box.Session
		s = "; session " + session.Safe().String()
	case st.Workspace(k) != nil:
		session = k.Parent
	case st.Session(k) == nil:
		return ""
	}
	for _, h := range st.Sources {
		if box == nil && h.Key.Source != k.Source {
			continue
		}
		if x := st.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: session}); x != nil && !x.Tenant.IsEmpty() {
			return s + "; tenant " + x.Tenant.String()
		}
	}
	return s
}

// howMany names an alert's only subject, or counts them.
func howMany(a *alerts.Alert, c *views.Snapshot) string {
	switch {
	case onlyOne(a):
		return strings.TrimPrefix(counted(1, a.Subjects[0].Key.Kind), "1 ") + " " + kit.CutMiddle(named(&a.Subjects[0], c), longestName)
	case len(a.Subjects) > 0:
		return ofAll(a, c)
	}
	return kit.Number(a.SubjectCount) + " subjects"
}

// ofAll counts an alert's subjects among all of their kind that their source knows; alone where they are of several sources.
func ofAll(a *alerts.Alert, c *views.Snapshot) string {
	k := a.Subjects[0].Key
	for i := range a.Subjects {
		if x := a.Subjects[i].Key; x.Kind != k.Kind || x.Source != k.Source {
			return counted(a.SubjectCount, k.Kind)
		}
	}
	if all := watched(k, c); all >= a.SubjectCount {
		return kit.Number(a.SubjectCount) + " of " + counted(all, k.Kind)
	}
	return counted(a.SubjectCount, k.Kind)
}

// watched counts the subjects of a kind and source that rules judge, as the header and check do: without machines that are merely
// listed.
func watched(k backend.Key, c *views.Snapshot) int {
	n := c.State.CountOf(k.Kind, k.Source)
	if k.Kind != backend.KindSandbox {
		return n
	}
	for b := range c.State.Sandboxes.All() {
		if b.Key.Source == k.Source && !b.Judged() {
			n--
		}
	}
	return n
}
