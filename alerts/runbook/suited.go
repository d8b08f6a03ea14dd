package runbook

import (
	"regexp"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

var (
	engineCommand = regexp.MustCompile(`\bdocker (exec|kill|logs|restart|rm|run|start|stop|top|update)\b`)
	ownCommand    = regexp.MustCompile(`\bsandglass (destroy|kill-process|pause|probe|prove|repair|replace|rescue|resume|revoke-token|stop-process|stop|wake)\b`)
)

// suit makes the commands of the steps those of this place: with the client that reaches the sandbox's engine, and with how to
// allow what the configuration refuses.
func (s *subjectView) suit(d *Diagnosis) {
	h := s.engine()
	if h == nil {
		return
	}
	d.client = h.Client.String()
	for i, step := range d.Do {
		text := inClient(step.String(), d.client)
		if m := ownCommand.FindStringSubmatch(text); m != nil && h.Allowed != nil && !slices.Contains(h.Allowed, m[1]) {
			how := `add "` + m[1] + `" to actions of the source ` + h.Key.Source
			if h.Local {
				how = "start with --allow " + m[1]
			}
			text = strings.TrimRight(text, ".") + ". Not allowed here: " + how + "."
		}
		d.Do[i] = backend.Clean(text, 600)
	}
}

// engine is the source that all sandboxes of the subject are of, nil where there is none such.
func (s *subjectView) engine() *fleet.SourceHealth {
	if len(s.sandboxes) == 0 {
		return nil
	}
	id := s.sandboxes[0].Key.Source
	if slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.Key.Source != id }) {
		return nil
	}
	return s.State.Source(id)
}

// inClient is a text whose commands for an engine begin with the client that reaches it.
func inClient(text, client string) string {
	if strings.HasPrefix(client, "podman") { // which changes no restart policy, and has other words for the columns of top
		text = regexp.MustCompile(`Take the restart policy away until the cause is found: docker update --restart=no (\S+)`).
			ReplaceAllString(text, "End the loop until the cause is found: sandglass stop $1")
		text = strings.ReplaceAll(text, " -o pid,stat,wchan,cmd", " pid state comm")
	}
	if client == "" {
		return text
	}
	return engineCommand.ReplaceAllStringFunc(text, func(m string) string { return client + strings.TrimPrefix(m, "docker") })
}
