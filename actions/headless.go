package actions

import (
	"sandglass/actions/audit"
	"sandglass/backend"
)

// For is the same confirmation with the reason that came with it, and by whom it was given: whoever confirms a plan that
// somebody else made answers for it. The plan keeps its digest, which names what was shown; the journal has both. One who
// claims no name and has the account of the plan's maker is taken for them.
func (c Confirmed) For(reason backend.Safe, who audit.Who) Confirmed {
	if c.plan == nil {
		return c
	}
	p := *c.plan
	if !reason.IsEmpty() {
		p.Reason = reason
	}
	if made := p.Who; who.Claimed.IsEmpty() && who.User == made.User && who.Host == made.Host && who.SudoUser == made.SudoUser {
		who.Claimed = made.Claimed
	}
	if who != p.Who {
		p.madeBy, p.Who = p.Who, who
	}
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
