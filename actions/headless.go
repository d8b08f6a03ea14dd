package actions

import (
	"sandglass/actions/audit"
	"sandglass/backend"
)

// For is the same confirmation with the reason that came with it. The plan keeps its digest, which names what was shown;
// the reason goes into the journal.
func (c Confirmed) For(reason backend.Safe) Confirmed {
	if c.plan == nil || reason.IsEmpty() {
		return c
	}
	p := *c.plan
	p.Reason = reason
	c.plan = &p
	return c
}

// Who is the person at this program; claimed is what they call themselves, empty where the account tells.
func (c *Control) Who(claimed backend.Safe) audit.Who {
	who := c.who()
	if !claimed.IsEmpty() {
		who.Claimed = claimed
	}
	return who
}
