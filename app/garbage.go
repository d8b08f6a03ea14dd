package app

import (
	"runtime/debug"

	"sandglass/backend/fleet"
)

// garbagePercent is how much garbage, in percent of what is in use, a console of so many workspaces lets gather. Go's 100
// costs 100 MB at 100,000 workspaces; 35 costs a small console a tenth more processor time for nothing.
func garbagePercent(workspaces int) int {
	if workspaces > 8_000 {
		return 35
	}
	return 60
}

// boundedGarbage returns what keeps the bound at the size of the fleet. GOGC in the environment wins.
func boundedGarbage(getenv func(string) string) func(*fleet.State) {
	set := 0
	return func(st *fleet.State) {
		if percent := garbagePercent(st.Workspaces.Len()); percent != set && getenv("GOGC") == "" {
			debug.SetGCPercent(percent)
			set = percent
		}
	}
}
