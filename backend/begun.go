package backend

import "strings"

// What a probe says of commands that ran where nothing showed that a container ran before: a request starts one where none does.
const (
	BegunByProbe = Literal("no container ran before the probe, which started a new, empty one: files on the disk of an earlier one are gone")
	MayBeNew     = Literal("whether its container ran before the probe is not known: the probe may have started a new, empty one")
)

// Begun says that the container in which the commands of a probe ran was started by it; empty: nothing shows that.
func (o Observation) Begun() Safe {
	if v, _ := o.Of(PlaneExec); v.Outcome == OutcomeOK && strings.HasSuffix(v.What.s, string(BegunByProbe)) {
		return Text(BegunByProbe)
	}
	return Safe{}
}
