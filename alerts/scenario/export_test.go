package scenario

import (
	"sandglass/alerts"
	"sandglass/backend/fleet"
)

// RunSeen plays a scenario and tells of each State and the Board that was concluded from it.
func (s *Scenario) RunSeen(rules []alerts.Rule, seen func(*fleet.State, *alerts.Board)) error {
	_, err := s.run(rules, seen)
	return err
}
