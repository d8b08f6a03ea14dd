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
