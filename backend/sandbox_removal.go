package backend

import "time"

// Removal is when a platform removes a sandbox, by the limit that is met first, and from when that counts, zero where that is not
// known; end is zero where it is not told, or never.
func (b *Sandbox) Removal() (end time.Time, by Safe, from time.Time) {
	end, by, from = b.ExpiresAt, b.ExpiresBy, b.CreatedAt.Or(time.Time{})
	if by.IsEmpty() {
		by = Text("its time to live")
	}
	idles := b.Class == SandboxAsleep || !b.ReapedBy.IsEmpty()
	if at := b.ReapedAt; !at.IsZero() && idles && (end.IsZero() || at.Before(end)) {
		if !b.ReapedBy.IsEmpty() {
			from = b.LastUsedAt
		}
		return at, b.PausedLimit(), from
	}
	return end, by, from
}

// PausedLimit is what removes a sandbox that sleeps on, or is not used.
func (b *Sandbox) PausedLimit() Safe {
	if b.ReapedBy.IsEmpty() {
		return Text("its paused timeout")
	}
	return b.ReapedBy
}
