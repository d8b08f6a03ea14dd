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
