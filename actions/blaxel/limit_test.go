package blaxel

import (
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
)

// TestAnActionThatMeetsTheUsageLimit leaves that as an observation, which tells nothing of the sandbox; one that is refused for something
// else does not.
func TestAnActionThatMeetsTheUsageLimit(t *testing.T) {
	for body, limit := range map[string]bool{
		`{"error":{"code":"USAGE_LIMIT_EXCEEDED","message":"m"}}`: true,
		`{"error":{"code":"POLICY_VIOLATION","message":"m"}}`:     false,
	} {
		w := newWorld(t)
		w.once = true
		w.answer = func(out http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/sbx/") {
				return false
			}
			out.WriteHeader(map[bool]int{true: http.StatusPaymentRequired, false: http.StatusConflict}[limit])
			_, _ = out.Write([]byte(body))
			return true
		}
		done, err := w.do(actions.Rescue, actions.Params{})
		v := on(done, backend.PlaneList)
		if err == nil || (len(done.Observed) == 1) != limit || limit && (v.Kind != backend.FailUsageLimit || v.Outcome != backend.OutcomeUnknown || !strings.Contains(v.What.String(), "USAGE_LIMIT_EXCEEDED") || v.At.IsZero()) {
			t.Errorf("limit %t: %v %+v", limit, err, done.Observed)
		}
	}
}
