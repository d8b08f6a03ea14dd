package cloudflare

import (
	"net/http"
	"strings"
)

// operate answers as the operator routes of examples/cloudflare-operator-routes do. They start nothing.
func (b *Bridge) operate(w http.ResponseWriter, r *http.Request, rest string) {
	parts := strings.Split(rest, "/")
	if parts[0] != "sandboxes" || len(parts) > 3 {
		noRoute(w)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(parts) == 1 {
		list := []any{}
		for _, id := range b.ids() {
			list = append(list, b.boxes[id].told())
		}
		bridgeSays(w, http.StatusOK, map[string]any{"sandboxes": list, "next": nil})
		return
	}
	x := b.boxes[parts[1]]
	verb := ""
	if len(parts) == 3 {
		verb = parts[2]
	}
	switch {
	case x == nil:
		bridgeSays(w, http.StatusNotFound, map[string]string{"error": "no container is assigned to it"})
	case verb == "" && r.Method == http.MethodGet:
		bridgeSays(w, http.StatusOK, x.told())
	case x.State != "healthy" && (verb == "processes" || verb == "stop"):
		bridgeSays(w, http.StatusConflict, map[string]string{"error": "its object says " + x.State})
	case verb == "processes" && r.Method == http.MethodGet:
		bridgeSays(w, http.StatusOK, map[string]any{"processes": []any{}})
	case verb == "stop" && r.Method == http.MethodPost:
		x.State, x.Changed = "stopped", b.o.Clock()
		bridgeSays(w, http.StatusAccepted, map[string]bool{"accepted": true})
	default:
		bridgeSays(w, http.StatusNotFound, map[string]string{"error": "no such route"})
	}
}

func (x *Box) told() map[string]any {
	return map[string]any{"id": x.ID, "container": x.Container, "instance": x.Instance, "class": "Sandbox", "state": x.State, "lastChange": x.Changed.UnixMilli()}
}
