package fleet

import (
	"time"

	"sandglass/backend"
)

// Said is a fact of a state and of the inventory in words.
func (d *RefDifference) Said() backend.Safe {
	state, inventory := backend.Textf("%s in the state", d.State), backend.Textf("%s in the inventory", d.Inventory)
	if d.State.IsEmpty() {
		state = backend.Text("not in the state")
	}
	if d.Inventory.IsEmpty() {
		inventory = backend.Text("not in the inventory")
	}
	said := backend.Textf("%s: %s, %s", d.Name, state, inventory)
	if !d.Note.IsEmpty() {
		said = backend.Textf("%s: %s", said, d.Note)
	}
	return said
}

// open are the facts of a state and of its sandbox that are named and count for nothing.
func open(r *backend.Ref, b *backend.Sandbox) (out []RefDifference) {
	if d, differs := lifespans(r.Agent.TTL, b.TTL); !d.Name.IsEmpty() && !differs {
		out = append(out, d)
	}
	return out
}

// forced are the limits on age that the platform sets where an account is of one of its two lowest tiers.
var forced = []time.Duration{7 * 24 * time.Hour, 30 * 24 * time.Hour}

// lifespans compares the limits on age of a state and of its sandbox, as lengths of time: 1440m is 24h. One that only one side names, that
// cannot be read, or that the platform may have made shorter itself is no difference. Without a name there is nothing to say.
func lifespans(state, inventory backend.Safe) (d RefDifference, differs bool) {
	if state == inventory {
		return d, false
	}
	d = RefDifference{Name: backend.Text("ttl"), State: state, Inventory: inventory}
	asked, read := backend.Lifespan(state.String())
	has, readToo := backend.Lifespan(inventory.String())
	switch {
	case state.IsEmpty():
		d.Note = backend.Text("a state that names none asks for none, so it was set otherwise")
	case inventory.IsEmpty():
		d.Note = backend.Text("its record names none, which may only leave it out")
	case !read || !readToo:
		d.Note = backend.Text("they are not compared, as one of them is no length of time that is understood")
	case asked == has:
		return RefDifference{}, false
	case asked > has && (has == forced[0] || has == forced[1]):
		d.Note = backend.Text("the platform allows no more in its lowest tiers")
	default:
		return d, true
	}
	return d, false
}
