package docker

import (
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
)

// What an action sends is in the log of what was sent, also where nobody answers.
func TestOrdersAreInTheLogOfWhatWasSent(t *testing.T) {
	f := newFake(t)
	f.sent = &backend.SentLog{}
	f.answer = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/pause"):
			panic(http.ErrAbortHandler)
		case strings.HasSuffix(r.URL.Path, "/stop"):
			f.fail(w, http.StatusForbidden, "only GET is allowed here")
			return true
		}
		return false
	}
	_, _ = f.do(actions.Stop, soon)
	_, _ = f.do(actions.Pause, soon)
	var orders, reads []backend.Sent
	for _, s := range f.sent.Newest() {
		if s.Acts {
			orders = append(orders, s)
		} else {
			reads = append(reads, s)
		}
	}
	if len(orders) != 2 || len(reads) == 0 {
		t.Fatalf("orders %+v, reads %+v", orders, reads)
	}
	if s := orders[1]; s.Method != "POST" || !strings.Contains(s.What.String(), "/containers/"+boxID+"/stop") || s.Status != http.StatusForbidden || s.Bytes == 0 || !strings.HasPrefix(s.What.String(), "unix:///") || !s.Over {
		t.Errorf("refused: %+v", s)
	}
	if s := orders[0]; s.Status != -1 || s.Cause.IsEmpty() || !s.Over {
		t.Errorf("lost: %+v", s)
	}
	if s := reads[0]; s.Method != "GET" || s.Status != http.StatusOK || !s.Over || s.Bytes == 0 {
		t.Errorf("read: %+v", s)
	}
}
