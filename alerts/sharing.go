package alerts

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// Sharing is how the rule about shared places and its diagnosis read what log lines say of them.
type Sharing struct {
	State *fleet.State
	Home  func(source string, session backend.ID) string            // the source that lists a session
	Over  func(s backend.Series, over time.Duration) fleet.Increase // what a series counted lately
}

// FileUse is what log lines say that one session did with the files of a shared place.
type FileUse struct {
	Session backend.ID      // zero: the lines do not name it
	What    backend.Literal // writes or reads
	N       float64
	Last    time.Time
	Newest  backend.Safe // the path in the newest line, empty where no pattern finds it
	Source  string
}

// Who names the session of a use.
func (u *FileUse) Who() backend.Safe {
	if u.Session.IsZero() {
		return backend.Text("a session that the lines do not name")
	}
	return backend.Textf("session %s", u.Session.Safe())
}

// FileUses are the reads and writes that the users of a place made within a time, by session, writes first.
func (s Sharing) FileUses(p *fleet.SharedStorage, within time.Duration) []FileUse {
	var all []FileUse
	for _, m := range []struct {
		metric backend.Metric
		what   backend.Literal
	}{{backend.MetricWrites, "writes"}, {backend.MetricReads, "reads"}} {
		for x := range s.State.Windows.All(m.metric) {
			h := s.State.Source(x.Source)
			if h == nil || !h.ReportsOn(p.Home) || !p.MentionedIn(x) || !x.Session.IsZero() && s.Home(x.Source, x.Session) != p.Home {
				continue
			}
			in := s.Over(x, within)
			if in.N == 0 {
				continue
			}
			i := slices.IndexFunc(all, func(u FileUse) bool { return u.Session == x.Session && u.What == m.what })
			if i < 0 {
				i, all = len(all), append(all, FileUse{What: m.what, Session: x.Session})
			}
			if all[i].N += in.N; in.Last.After(all[i].Last) {
				all[i].Last, all[i].Newest, all[i].Source = in.Last, in.Sample, x.Source
			}
		}
	}
	stable.Sort(all, func(a, b FileUse) int { return cmp.Or(a.Session.Compare(b.Session), cmp.Compare(b.What, a.What)) })
	return all
}

// Isolated adds to known lines those of the last hour that say of users of a place that each got a workspace of its own.
func (s Sharing) Isolated(p *fleet.SharedStorage, known []backend.Series) []backend.Series {
	for x := range s.State.Windows.All(backend.MetricNameCollision) {
		if x.Session.IsZero() || slices.Contains(known, x) || s.Home(x.Source, x.Session) != p.Home || s.Over(x, fleet.WindowSpan).N == 0 ||
			!slices.ContainsFunc(p.Users, func(u fleet.StorageUser) bool { return u.Isolated(x) }) {
			continue
		}
		known = append(slices.Clip(known), x)
	}
	return known
}

// WithoutIsolated is a place without the users that lines say got a workspace of their own.
func WithoutIsolated(p *fleet.SharedStorage, lines []backend.Series) *fleet.SharedStorage {
	if len(lines) == 0 {
		return p
	}
	left := *p
	left.Users = slices.DeleteFunc(slices.Clone(p.Users), func(u fleet.StorageUser) bool { return slices.ContainsFunc(lines, u.Isolated) })
	return &left
}
