package logs

import (
	"strings"
	"testing"
	"time"
)

// TestAContextNamesWhatFailed holds what of an error's context becomes a part of the error.
func TestAContextNamesWhatFailed(t *testing.T) {
	deep := func(n int) string {
		return `{"msg":"m","context":` + strings.Repeat(`{"a":`, n) + `{"additional_remount_errors":["x"]}` + strings.Repeat(`}`, n) + `}`
	}
	for line, want := range map[string]string{
		`{"msg":"m","context":{"snapshot_error_before_remount_corruption":{"code":1,"message":"timed \"out\""}}}`:     `snapshot_error_before_remount_corruption: timed "out"`,
		`{"msg":"m","err":{"message":"e","context":{"additional_remount_errors":[{"message":"a"},{"message":"b"}]}}}`: `e: additional_remount_errors: a`,
		`{"msg":"m","context":{"hydrate_error_before_remount_corruption":"reset"},"error":"e"}`:                       `e: hydrate_error_before_remount_corruption: reset`,
		`{"msg":"m","context":{"additional_remount_errors":[3]}}`:                                                     `additional_remount_errors`,
		`{"msg":"m","context":{"additional_remount_errors":[]}}`:                                                      ``,
		`{"msg":"m","context":{"note":"additional_remount_errors"}}`:                                                  ``,
		`{"msg":"m","output":{"context":{"additional_remount_errors":["x"]}}}`:                                        ``,
		`{"msg":"m","context":{"a":[{"additional_remount_errors":[{"message":"x"}`:                                    ``,
		`{"log":"{\"msg\":\"m\",\"context\":{\"additional_remount_errors\":[{\"message\":\"x\"}]}}\n"}`:               `additional_remount_errors: x`,
		deep(maxContextDepth - 2): `additional_remount_errors`,
		deep(maxContextDepth - 1): ``,
		deep(5000):                ``,
	} {
		if got := string(newDecoder("auto", defaults().Fields, time.UTC).decode([]byte(line)).errText); got != want {
			t.Errorf("%.120s: %q, want %q", line, got, want)
		}
	}
}
