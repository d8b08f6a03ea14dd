package runbook

import (
	"strings"

	"sandglass/backend"
)

// doPreview are the steps for an address of a port that could not be made, by the kinds that its alert counts.
func (s *subjectView) doPreview(d *Diagnosis) {
	a, known := s.ledBy("preview-failed"), false
	steps := [...]backend.Literal{
		"The platform did not make the address. Read the line: the port must be in the list of exposed ports. If it is, see the platform's status page.",
		"The platform's answer had no address of use: see its status page, then let the agent ask again.",
		"No token was made: look at the rights of the agent's key.",
		"The platform's address cannot be read: see whether the SDK where the agent runs is of the platform's present version.",
	}
	for i, detail := range backend.PreviewFailures() {
		if a == nil {
			break
		}
		for _, e := range a.Evidence {
			if text := e.Text.String(); strings.Contains(text, detail) || strings.Contains(text, backend.PreviewFailureMeans(detail).String()) {
				d.do("%s", backend.Text(steps[i]))
				known = true
				break
			}
		}
	}
	if !known {
		d.do("Read the line. The port must be in the list of exposed ports.")
	}
}

// doOpen ends the page about addresses that open without a token: what they lead to, and whether the agent asked for it.
func (s *subjectView) doOpen(d *Diagnosis, name backend.Safe) {
	says := d.fact("open").String()
	if a := s.ledBy("public-preview"); a != nil {
		for i := range a.Subjects {
			says += " " + a.Subjects[i].Detail.String()
		}
	}
	private := strings.Contains(says, "its saved state says private")
	if strings.Contains(says, "its own API") {
		d.conclude("An address of its own API opens without a token.")
		d.do("Remove the address of its API now. The vendor's command line does it. Who has the address reads files and runs commands.")
		d.do("Read what else is open: sandglass why %s", name)
	} else {
		d.conclude("An address of it opens without a token.")
		d.do("Read which port it is: sandglass why %s", name)
	}
	if private {
		d.do("The agent did not ask for it: its saved state says private. It was made by hand, or before. Remove it with the vendor's command line.")
		return
	}
	d.do("If it should be private: set exposed_port_public to false. Let the agent ask for the address again. Remove the open one with the vendor's command line.")
}
