package fleet

import (
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// Said is a fact of a state and of the inventory in words.
func (d *RefDifference) Said() backend.Safe {
	if d.State.IsEmpty() && d.Inventory.IsEmpty() {
		return backend.Textf("%s: %s", d.Name, d.Note)
	}
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
	return append(out, environment(r.Agent, b)...)
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
		d.Note = backend.Text("a state that names none asks for none: it was set otherwise, or by the tier of the workspace")
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

// undeclared are the environment variables of the options of an agent's client that the record of its sandbox does not declare. Its SDK
// gives them to the platform where it makes the sandbox, so that they differ; of a record that tells none, or of which not all names are kept, that
// is not known.
func undeclared(x *backend.AgentState, b *backend.Sandbox) (missing []backend.AgentVariable, differs bool) {
	for _, v := range x.Env {
		if v.Origin.String() != "manifest" && !declares(b, v.Name) {
			missing = append(missing, v)
		}
	}
	return missing, len(missing) > 0 && (len(b.EnvNames) > 0 || b.NoEnv) && len(b.EnvNames) < backend.MaxVariables
}

// declares reports whether the record of a sandbox declares a variable; the names are sorted.
func declares(b *backend.Sandbox, name backend.Safe) bool {
	_, has := slices.BinarySearchFunc(b.EnvNames, name, byText)
	return has
}

func byText(a, b backend.Safe) int { return strings.Compare(a.String(), b.String()) }

// environment names the environment variables that one side alone has, where that is no difference.
func environment(x *backend.AgentState, b *backend.Sandbox) (out []RefDifference) {
	add := func(state, inventory, note backend.Safe) {
		if !state.IsEmpty() || !inventory.IsEmpty() {
			out = append(out, RefDifference{Name: backend.Text("environment"), State: state, Inventory: inventory, Note: note})
		}
	}
	if len(b.EnvNames) == 0 && !b.NoEnv {
		add(variables(x.Env), backend.Safe{}, backend.Text("its record tells no environment"))
		return out
	}
	if missing, differs := undeclared(x, b); !differs {
		add(variables(missing), backend.Safe{}, backend.Text("its record declares more than are kept"))
	}
	var each []backend.AgentVariable
	for _, v := range x.Env {
		if v.Origin.String() == "manifest" && !declares(b, v.Name) {
			each = append(each, v)
		}
	}
	var extra []backend.Safe
	for _, name := range b.EnvNames {
		if _, has := slices.BinarySearchFunc(x.Env, name, func(v backend.AgentVariable, n backend.Safe) int { return byText(v.Name, n) }); !has {
			extra = append(extra, name)
		}
	}
	add(variables(each), backend.Safe{}, backend.Text("the agent sets it with each command, so that the record need not declare it"))
	if len(x.Env) < backend.MaxVariables {
		add(backend.Safe{}, someOf(extra), backend.Text("who declared it is not known"))
	}
	return out
}

// variables are names with the origin that wins, as many as a line has room for.
func variables(all []backend.AgentVariable) backend.Safe {
	names := make([]backend.Safe, len(all))
	for i, v := range all {
		names[i] = backend.Textf("%s (%s)", v.Name, v.Origin)
	}
	return someOf(names)
}

// someOf joins names, as many as a line has room for.
func someOf(all []backend.Safe) backend.Safe {
	const most = 8
	joined := backend.Join(all[:min(len(all), most)], " ")
	if len(all) > most {
		joined = backend.Textf("%s and %d more", joined, len(all)-most)
	}
	return joined
}
