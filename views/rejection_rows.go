package views

import (
	"iter"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Rejection is one row of rejected commands with a key of its own.
type Rejection struct {
	*backend.Rejection
	Key backend.Key `json:"key"`
	// Distinct is how many different first words of its session and workspace were rejected.
	Distinct int `json:"distinct"`
}

// leastRejectedOver is the shortest time over which a rate of rejections is given: a few lines of one second are no rate.
const leastRejectedOver = time.Minute

// Rate is how many commands a second were rejected between the first and the last line, rollups counted, over at least a minute.
func (r *Rejection) Rate() float64 {
	return (r.Lines + r.Suppressed) / max(r.LastSeen.Sub(r.FirstSeen), leastRejectedOver).Seconds()
}

// RollupShare is the share of the rejected commands that only rollups stand for, from 0 to 1.
func (r *Rejection) RollupShare() float64 {
	if all := r.Lines + r.Suppressed; all > 0 {
		return r.Suppressed / all
	}
	return 0
}

// RejectionRows gives the rejected commands of every source a key: the session, and what the row counts.
func RejectionRows(st *fleet.State) iter.Seq[Rejection] {
	return func(yield func(Rejection) bool) {
		for _, h := range st.Sources {
			words := distinctWords(h.Rejections)
			for _, x := range h.Rejections {
				what := x.Workspace.Raw() + "/" + x.Word.String() + "/" + x.Metacharacter.String()
				id, err := backend.NewID(what[:min(len(what), backend.MaxIDBytes)])
				if err != nil || !yield(Rejection{x, backend.Key{Kind: KindRejection, Source: h.Key.Source, Parent: x.Session, ID: id}, words[placeOf(x)]}) {
					return
				}
			}
		}
	}
}

// FindRejection returns the row with that key; false when there is none.
func FindRejection(st *fleet.State, key backend.Key) (Rejection, bool) {
	for r := range RejectionRows(st) {
		if r.Key == key {
			return r, true
		}
	}
	return Rejection{}, false
}

// place is where commands were rejected.
type place struct{ session, workspace backend.ID }

func placeOf(x *backend.Rejection) place { return place{x.Session, x.Workspace} }

// distinctWords counts the first words that were rejected, by place. Rows differ by their metacharacter too.
func distinctWords(list []*backend.Rejection) map[place]int {
	type word struct {
		place
		text string
	}
	seen, n := map[word]bool{}, map[place]int{}
	for _, x := range list {
		w := word{placeOf(x), x.Word.String()}
		if w.text != "" && !seen[w] {
			seen[w] = true
			n[w.place]++
		}
	}
	return n
}
