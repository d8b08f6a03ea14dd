package logs

import (
	"testing"
	"time"
)

// TestTimesOfCommonSchemas: the Elastic Common Schema, OpenTelemetry and Serilog name the time of a line each in their own way.
func TestTimesOfCommonSchemas(t *testing.T) {
	for _, line := range []string{
		`{"@timestamp":"2026-01-01T12:00:00Z","log.level":"error","message":"workspace tool: eviction retry exhausted"}`,
		`{"Timestamp":"2026-01-01T12:00:00Z","level":"error","message":"workspace tool: eviction retry exhausted"}`,
		`{"@t":"2026-01-01T12:00:00Z","level":"error","message":"workspace tool: eviction retry exhausted"}`,
	} {
		if r := newDecoder(defaults().Format, defaults().Fields, time.UTC).decode([]byte(line)); !r.at.Equal(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %v", line, r.at)
		}
	}
}

// TestFieldsOfOpenTelemetryAndSerilog: the facts of a line are in Body and Attributes, or in @m.
func TestFieldsOfOpenTelemetryAndSerilog(t *testing.T) {
	const text = "workspace tool: eviction retry exhausted"
	for _, line := range []string{
		`{"Timestamp":"2026-01-01T12:00:00Z","SeverityText":"ERROR","SeverityNumber":17,"Body":"` + text + `","Attributes":{"sessionId":"s1","workspace":"box","exception.type":"WorkspaceEvictedError","exception.message":"gone"}}`,
		`{"Timestamp":1767268800000000000,"SeverityText":"ERROR","Body":{"stringValue":"` + text + `"},"Attributes":{"sessionId":"s1","workspace":"box","exception":{"type":"WorkspaceEvictedError","message":"gone"}}}`,
		`{"severityText":"ERROR","body":{"stringValue":"` + text + `"},"attributes":{"session_id":"s1","workspaceName":"box","error":"WorkspaceEvictedError: gone"}}`,
		`{"@t":"2026-01-01T12:00:00Z","@l":"Error","@m":"` + text + `","@x":"WorkspaceEvictedError: gone","sessionId":"s1","workspace":"box"}`,
	} {
		r := newDecoder(defaults().Format, defaults().Fields, time.UTC).decode([]byte(line))
		if string(r.message) != text || levelOf(r.level) != levelError || string(r.session) != "s1" || string(r.workspace) != "box" || string(r.errText) != "WorkspaceEvictedError: gone" {
			t.Errorf("%s: %q %q %q %q %q", line, r.message, r.level, r.session, r.workspace, r.errText)
		}
	}
	forged := `{"SeverityText":"ERROR","Body":"` + text + `","Attributes":{"tool":"bash","stdout":"` + text + `"}}`
	if r := newDecoder(defaults().Format, defaults().Fields, time.UTC).decode([]byte(forged)); !r.tool || !r.output {
		t.Errorf("the agent's word is not marked: %+v", r)
	}
}
