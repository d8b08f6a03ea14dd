package cloudflare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
)

// claims joins sandboxes and instances by what the operator routes list: was by rows that are not of this round, all by those that are.
// An instance that several sandboxes name belongs to none of them, and one sandbox has one instance: what contradicts that is told.
func claims(was map[string]bridge.Box, all []bridge.Box) (boxes map[string]bridge.Box, by map[string]string, clashes []string) {
	rows := map[string][]bridge.Box{}
	for _, b := range all {
		rows[b.ID] = append(rows[b.ID], b)
	}
	sole := map[string]bool{} // instances that an id with one row names
	for _, of := range rows {
		if !differ(of) {
			sole[of[0].Instance] = true
		}
	}
	boxes = maps.Clone(was)
	if boxes == nil {
		boxes = map[string]bridge.Box{}
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		of := rows[id]
		boxes[id] = of[len(of)-1] // the newest of pages that overlap
		if !differ(of) {
			continue
		}
		kept := max(slices.IndexFunc(of, func(b bridge.Box) bool { return b.Instance != "" && !sole[b.Instance] }), 0)
		boxes[id] = of[kept]
		var named []string
		for _, b := range of {
			named = append(named, shortOf(b.Instance))
		}
		clashes = append(clashes, fmt.Sprintf("the sandbox %s is listed %d times, with the instances %s; %s is taken", id, len(of), strings.Join(named, ", "), shortOf(of[kept].Instance)))
	}
	by, twice := joined(boxes, rows)
	return boxes, by, append(clashes, twice...)
}

// differ reports whether the rows of one sandbox name several instances.
func differ(rows []bridge.Box) bool {
	return slices.ContainsFunc(rows, func(b bridge.Box) bool { return b.Instance != rows[0].Instance })
}

// joined gives each instance the one sandbox that names it, by its id and by the name of its container. Rows of this round count more
// than older ones.
func joined(boxes map[string]bridge.Box, fresh map[string][]bridge.Box) (by map[string]string, clashes []string) {
	claim := map[string][]string{}
	for _, id := range slices.Sorted(maps.Keys(boxes)) {
		b := boxes[id]
		for _, name := range []string{b.Instance, b.Container} {
			if name != "" && !slices.Contains(claim[name], id) {
				claim[name] = append(claim[name], id)
			}
		}
	}
	by = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(claim)) {
		ids := claim[name]
		if now := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return fresh[id] == nil }); len(now) > 0 {
			ids = now
		}
		switch instance := slices.ContainsFunc(ids, func(id string) bool { return boxes[id].Instance == name || boxes[id].Instance == "" }); {
		case len(ids) == 1:
			by[name] = ids[0]
		case instance: // a name of a container tells nothing where each of them has an instance
			clashes = append(clashes, fmt.Sprintf("the instance %s is named for %d sandboxes: %s; it is shown as that of none", shortOf(name), len(ids), shown(ids)))
		}
	}
	return by, clashes
}

// mostShown bounds the ids and the contradictions that one text names.
const mostShown = 5

func shown(list []string) string {
	if more := len(list) - mostShown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:mostShown], ", "), more)
	}
	return strings.Join(list, ", ")
}

// shortOf is the part of an id that is shown, of which any command finds it.
func shortOf(id string) string {
	if id == "" {
		return "none"
	}
	return id[:min(len(id), 12)]
}

// clashing tells in what the operator routes contradict themselves.
func (p *poll) clashing() {
	w := p.s.bridge
	if len(w.clashes) == 0 {
		return
	}
	where := p.routesList()
	for _, said := range w.clashes[:min(len(w.clashes), mostShown)] {
		p.problem(backend.Key{}, backend.ErrInvalid, where, "operator routes: "+said)
	}
	first := p.clean(w.clashes[0], 200)
	if more := len(w.clashes) - 1; more > 0 {
		first = backend.Textf("%s, and %d more", first, more)
	}
	p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("the operator routes contradict themselves: %s", first))
}

// routesList is the address of the list of the operator routes.
func (p *poll) routesList() string {
	return p.s.opt.BridgeURL + bridge.Ops{Prefix: p.s.opt.OpsPrefix}.List("").Path
}

// strangeStates counts the states of the operator routes that are not known, one problem a word: nothing tells whether a container runs.
func (p *poll) strangeStates() {
	of := map[string][]string{}
	for id, b := range p.s.bridge.boxes {
		if _, known := b.Runs(); !known && b.State != "" {
			of[b.State] = append(of[b.State], id)
		}
	}
	for _, word := range slices.Sorted(maps.Keys(of)) {
		ids := slices.Sorted(slices.Values(of[word]))
		p.problem(backend.Key{}, backend.ErrInvalid, p.routesList(), fmt.Sprintf("operator routes: the state %q is not known, of %s", p.clean(word, maxWord), shown(ids)))
	}
}
