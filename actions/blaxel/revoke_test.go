package blaxel

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	demo "sandglass/demo/blaxel"
)

// TestATokenThatIsStillListedIsNotRevoked, whatever the platform answered.
func TestATokenThatIsStillListedIsNotRevoked(t *testing.T) {
	for status, says := range map[int]string{http.StatusOK: "accepted it and still lists the token", http.StatusInternalServerError: "and it still lists the token, which opens the preview: plan it again"} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			w := newWorld(t)
			w.box.Previews = []*demo.Preview{{Name: "port-3000", Port: 3000, Tokens: map[string]time.Time{"token-1": time.Now().Add(time.Hour)}}}
			w.sandbox.PreviewsAt = time.Now()
			w.sandbox.Previews = []backend.Preview{{Name: backend.Text("port-3000"), Tokens: []backend.PreviewToken{{Name: backend.Text("token-1")}}}}
			w.answer = func(out http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodDelete {
					return false
				}
				out.WriteHeader(status)
				fmt.Fprint(out, `{}`)
				return true
			}
			done, err := w.do(actions.RevokeToken, actions.Params{})
			if err == nil || uncertain(err) || done.Proved || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "wakes") || w.asks("DELETE") != 1 {
				t.Errorf("%+v %v", done, err)
			}
		})
	}
}
