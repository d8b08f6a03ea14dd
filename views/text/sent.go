package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/views/kit"
)

// SentLine is one request or command in one line: when, source, what, result, time, size, and why it failed.
func SentLine(s *backend.Sent, zone *time.Location) string {
	parts := []string{s.At.In(zone).Format("15:04:05.000"), backend.Clean(s.Source, 60).String(), s.Method, s.What.String(), SentResult(s)}
	if s.Over || s.Status >= 0 {
		parts = append(parts, kit.Latency(s.Took), backend.Bytes(s.Bytes))
	}
	if !s.Cause.IsEmpty() {
		parts = append(parts, s.Cause.String())
	}
	return strings.Join(parts, "  ")
}

// SentResult is what came of it: a status, an exit code, or that nothing came yet or at all.
func SentResult(s *backend.Sent) string {
	switch {
	case s.Status >= 0 && s.Method == "run":
		return fmt.Sprintf("exit %d", s.Status)
	case s.Status >= 0 && !s.Over:
		return strconv.Itoa(s.Status) + " open"
	case s.Status >= 0:
		return strconv.Itoa(s.Status)
	case s.Over:
		return "no answer"
	}
	return "waiting"
}

// SentFailed reports whether it did not do what it was sent for.
func SentFailed(s *backend.Sent) bool {
	if s.Method == "run" {
		return s.Over && s.Status != 0
	}
	return s.Over && s.Status < 0 || s.Status >= 400 || !s.Cause.IsEmpty()
}
