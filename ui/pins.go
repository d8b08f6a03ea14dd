package ui

import (
	"fmt"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/subjects"
)

// pin pins what is here, or takes its pin off; the words "off" and "gone" take off all pins, or those of what is in no reading.
func (x *scope) pin(word string) reply {
	pins := x.frame.Pins
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "":
	case "off", "gone":
		n := len(pins.Keys)
		for _, k := range slices.Clone(pins.Keys) {
			if word == "off" || !there(x.frame, k) {
				pins.Toggle(k)
			}
		}
		if n -= len(pins.Keys); n == 0 {
			return reply{Say: "no pin is taken off"}
		}
		return x.keepPins(fmt.Sprintf("%d pins taken off", n))
	default:
		return reply{Say: "write :pin, :pin off (all) or :pin gone (of subjects that the newest readings do not show)"}
	}
	key := x.here()
	if key == (backend.Key{}) {
		return reply{Say: noRow}
	}
	name := x.frame.Shown(subjects.NameOf(key, x.frame.Snapshot).String())
	switch pinned, full := pins.Toggle(key); {
	case full:
		return reply{Say: fmt.Sprintf("%d subjects are pinned already: take a pin off first", views.MostPins)}
	case pinned:
		sample(x.frame)
		return x.keepPins(name + " stays on top of its screen")
	}
	return x.keepPins(name + " is not pinned any more")
}

// keepPins keeps the pins for the next console too.
func (x *scope) keepPins(say string) reply {
	keys := x.frame.Pins.Keys
	return x.keep(say, func(k *Kept) { k.Pins = keys })
}

// there reports whether a subject is in the newest reading.
func there(f *views.Frame, k backend.Key) bool {
	if k.Kind == views.KindAlert {
		return views.FindAlert(f.Board, k) != nil
	}
	return f.State.Entity(k) != nil || k.Kind == backend.KindSource
}

// sample keeps what is known of the pinned subjects now, where that is due.
func sample(f *views.Frame) {
	for _, k := range f.Pins.Due(f.Now) {
		f.Pins.Add(k, subjects.SampleOf(k, f.Snapshot), f.Now)
	}
}
