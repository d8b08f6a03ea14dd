package runbook

import (
	"strconv"
	"strings"

	"sandglass/backend"
)

// trueEnded is the next step where the newest probe began true and it failed, by its exit code; empty: no probe found that.
func (s *subjectView) trueEnded() backend.Safe {
	for _, b := range s.sandboxes {
		o, _ := b.Proved()
		v, _ := o.Of(backend.PlaneExec)
		code, is := strings.CutPrefix(v.What.String(), string(backend.TrueEnded))
		n, err := strconv.Atoi(code)
		switch {
		case !is || err != nil || v.Outcome != backend.OutcomeFailed:
		case n == 126 || n == 127:
			return backend.Text("Its shell finds no true that it can run. Look at PATH and the programs of its image, and at what its agent changed there.")
		case n == exitKilled:
			return backend.Text("The command was killed, as for want of memory. Look at the memory of its instance and of what runs in it.")
		default:
			return backend.Text("Look at its disk, memory and limits: run df and free in it through your application.")
		}
	}
	return backend.Safe{}
}
