package backend

import (
	"cmp"
	"time"
)

// Pool is how many sandboxes a part of a platform runs, of how many it may run.
type Pool struct {
	ID       ID         `json:"id"`
	Name     Safe       `json:"name"`
	Used     Value[int] `json:"used"`  // what runs now
	Limit    Value[int] `json:"limit"` // not applicable where there is none
	Starting Value[int] `json:"starting"`
	Failed   Value[int] `json:"failed"`           // what fails now
	Health   Safe       `json:"health,omitzero"`  // the platform's own word
	Policy   Safe       `json:"policy,omitzero"`  // how it is scheduled, the platform's own word
	Rollout  Safe       `json:"rollout,omitzero"` // the rollout that goes on, empty: none
	At       time.Time  `json:"at"`               // when it was read
}

// PlacesKey is the key of an alert about the places of a pool; nil: of those of its source, of which only a refused command tells.
func PlacesKey(source string, x *Pool) Key {
	name := "commands"
	if x != nil {
		name = cmp.Or(Clean(x.ID.Raw(), 100), x.Name).String()
	}
	return Key{Kind: KindSource, Source: source, ID: MustID(source + "/" + name)}
}
