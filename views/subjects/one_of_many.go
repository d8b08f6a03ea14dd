package subjects

import (
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// OfOne reports whether the cause of an alert about several subjects has the text of one of them: the texts of the others
// differ.
func OfOne(a *alerts.Alert, st *fleet.State) bool {
	if a.SubjectCount < 2 {
		return false
	}
	for _, v := range a.Variants.List {
		for _, x := range v.Values {
			if text := strings.Trim(x.Value.String(), `'"*`); text != "" && strings.Contains(a.Cause.String(), text) {
				return true
			}
		}
	}
	if st == nil {
		return false
	}
	cause := BareError(a.Cause.String())
	for i := range a.Subjects {
		text := backend.Safe{}
		k := a.Subjects[i].Key
		if w := st.Workspace(k); w != nil {
			text = w.LastError
		} else if b := st.Sandbox(k); b != nil && a.Rule == "sandbox-start-failed" {
			text = b.StartReason()
		}
		if own := BareError(text.String()); own != "" && !strings.Contains(cause, own) {
			return varies.MatchString(own) && varies.MatchString(cause)
		}
	}
	return false
}
