package runbook

import "strings"

// concludeReaped says of a sandbox that sleeps whether its platform removes it soon, or should have.
func (s *subjectView) concludeReaped(d *Diagnosis) {
	if strings.Contains(d.fact("reaped").String(), "should have removed it") {
		d.conclude("Its platform should have removed it, and lists it still. It may go at any moment, with its files.")
		return
	}
	d.conclude("Its platform removes it soon, with its files.")
}
