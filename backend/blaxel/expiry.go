package blaxel

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

// limit is what ends the life of a sandbox, and when.
type limit struct {
	at time.Time
	by backend.Safe
}

// expiry reads what removes a sandbox, and when.
type expiry struct {
	d     *decoder
	b     *backend.Sandbox
	all   []limit
	idle  backend.Safe  // the limit on idleness as it is written; empty: there is none
	after time.Duration // and its span
}

// slack is how long after its time a platform may still list what it removes.
const slack = 10 * time.Minute

// expiry is when the platform removes the sandbox: as its own count says, else the first of the limits whose time is known. The
// others, and those that cannot be read, are told as they are written. at is when it was read.
func (d *decoder) expiry(r *row, n wire.Node, at time.Time) {
	b := &r.entity
	if b.Class == backend.SandboxRemoving || b.Class == backend.SandboxExited {
		return
	}
	x := &expiry{d: d, b: b}
	spec := n.Get("spec")
	x.age(spec.Get("runtime").Get("ttl"), "ttl")
	x.date(spec.Get("runtime").Get("expires"), backend.Text("its date of expiry"))
	for p := range spec.Get("lifecycle").Get("expirationPolicies").Elements() {
		x.policy(p)
	}
	stable.Sort(x.all, func(a, b limit) int { return a.at.Compare(b.at) })
	x.first(n.Get("expiresIn"), at)
}

func (x *expiry) policy(p wire.Node) {
	value := p.Get("value")
	switch kind := textOf(p.Get("type")); kind {
	case "ttl-max-age":
		x.age(value, "policy")
	case "date":
		x.date(value, backend.Text("the date of its policy"))
	case "ttl-idle":
		var ok bool
		if x.after, ok = backend.Lifespan(textOf(value)); ok {
			x.idle = x.written(value)
			return
		}
		fallthrough
	default:
		x.open(backend.Textf("its policy %s of %s is not understood", x.d.clean.Clean(kind, maxWord), x.written(value)))
	}
}

// age is a limit on the age of a sandbox.
func (x *expiry) age(n wire.Node, name backend.Literal) {
	if !n.Exists() || n.IsNull() || textOf(n) == "" && string(n.Raw()) == `""` {
		return
	}
	life, ok := backend.Lifespan(textOf(n))
	made, known := x.b.CreatedAt.Get()
	if !ok || !known {
		x.open(backend.Textf("its %s of %s from creation has no end that is understood", backend.Text(name), x.written(n)))
		return
	}
	x.all = append(x.all, limit{made.Add(life), backend.Textf("its %s of %s from creation", backend.Text(name), x.written(n))})
}

func (x *expiry) date(n wire.Node, by backend.Safe) {
	end := x.d.moment(n)
	if at, known := end.Get(); known {
		x.all = append(x.all, limit{at, by})
	} else if !end.IsNotApplicable() {
		x.open(backend.Textf("%s, %s, is not understood", by, x.written(n)))
	}
}

// first chooses the limit that is met first.
func (x *expiry) first(count wire.Node, at time.Time) {
	b := x.b
	left, told := count.Float()
	end := at.Add(time.Duration(left * float64(time.Second))).Truncate(time.Second)
	counted := told && left >= 0 && left < 1e9
	without := backend.Textf("its policy of %s without use", x.idle)
	switch {
	case counted && len(x.all) > 0 && x.all[0].at.Sub(end).Abs() <= time.Minute: // the exact time does not move from reading to reading
		b.ExpiresAt, b.ExpiresBy = x.all[0].at, x.all[0].by
	case counted && !x.idle.IsEmpty():
		b.ReapedAt, b.ReapedBy = end, without
		return
	case counted:
		b.ExpiresAt, b.ExpiresBy = end, backend.Text("the platform's own count")
	case len(x.all) > 0:
		b.ExpiresAt, b.ExpiresBy = x.all[0].at, x.all[0].by
	}
	if !counted && count.Exists() && !count.IsNull() {
		x.open(backend.Textf("the platform's own count of %s s cannot be used", x.written(count)))
	}
	if !x.idle.IsEmpty() {
		x.unused(without, at)
	}
}

// unused counts a limit on idleness of a sandbox that sleeps from its last use. The platform counts from waking and falling asleep,
// which it does not tell: one that runs, or that is still there when that time is over, has no end that is known.
func (x *expiry) unused(by backend.Safe, at time.Time) {
	end := x.b.LastUsedAt.Add(x.after)
	switch {
	case x.b.Class != backend.SandboxAsleep:
		x.open(backend.Textf("%s: it counts from waking and falling asleep, and when it last did is not told", by))
	case x.b.LastUsedAt.IsZero():
		x.open(backend.Textf("%s: when it was last used is not told", by))
	case at.After(end.Add(slack)):
		x.open(backend.Textf("%s: from its last use that is over, and it is still there: from when the platform counts is not told", by))
	default:
		x.b.ReapedAt, x.b.ReapedBy = end, by
	}
}

// open adds a limit whose end is not known.
func (x *expiry) open(what backend.Safe) {
	if len(x.b.OpenLimits) < maxMounts {
		x.b.OpenLimits = append(x.b.OpenLimits, what)
	}
}

// written is a value as the platform writes it.
func (x *expiry) written(n wire.Node) backend.Safe {
	if t, ok := n.Text(); ok {
		return x.d.clean.Clean(t, maxWord)
	}
	return x.d.clean.Clean(string(n.Raw()), maxWord)
}
