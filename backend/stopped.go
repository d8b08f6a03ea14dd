package backend

import (
	"slices"
	"strings"
	"time"
)

// StoppedAt is when the container of a Cloudflare Worker ended without a fault, by sleep or a stop that is none of Sandglass: its disk is gone,
// and its next start has an empty one. Zero: it did not, what it holds is mounted, or it is not told when.
func (b *Sandbox) StoppedAt() time.Time {
	if !b.OfWorker() || b.Class != SandboxExited || b.Unlisted || b.FailedEnd() || !b.StartError.IsEmpty() || !b.DestroyedHere().IsZero() || b.RootMounted() {
		return time.Time{}
	}
	return b.FinishedAt.Or(time.Time{})
}

// MayStillHold says what speaks against the loss of the files of a container that stopped; empty: nothing does.
func (b *Sandbox) MayStillHold() Safe {
	if word := b.RoutesSay(); !word.IsEmpty() {
		return Textf("the operator routes say %s", word)
	}
	o, _ := b.Observed.Get()
	v, _ := o.Of(PlaneList)
	if to, is := linkedTo(&v); is && !v.At.Before(b.StartedAt.Or(time.Time{})) {
		return Textf("/workspace was a link to %s: what is there is kept if it is a mount", Clean(to, 200))
	}
	return Safe{}
}

// RoutesSay is the word of its operator routes where its account says otherwise of whether it runs, or that word is not known; empty: they do not differ.
func (b *Sandbox) RoutesSay() Safe {
	for _, l := range b.Labels {
		if l.Name == Text(RoutesSayLabel) {
			return l.Value
		}
	}
	return Safe{}
}

// RootMounted reports whether the directory that agents work in comes from outside the sandbox.
func (b *Sandbox) RootMounted() bool {
	dir := b.WorkDir.String()
	if dir == "" {
		dir = SandboxRoot
	}
	return slices.ContainsFunc(b.Mounts, func(m Mount) bool {
		at := strings.TrimSuffix(m.Destination.String(), "/")
		return dir == at || strings.HasPrefix(dir, at+"/")
	})
}
