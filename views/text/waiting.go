package text

import (
	"fmt"
	"io"
	"strings"

	"sandglass/backend"
)

// Waiting is a directory that a clean-up set aside.
type Waiting struct {
	Key   backend.Key `json:"-"`
	ID    backend.ID  `json:"id"`
	Path  backend.ID  `json:"path"` // where it was
	Name  backend.ID  `json:"name"` // what it is called now
	Moved Time        `json:"moved"`
	Due   Time        `json:"due"`
	// Begun says that its removal has begun, so that it cannot be put back.
	Begun bool    `json:"begun"`
	Plan  *string `json:"plan"`
}

// WaitingList is the document of `sandglass clean --list -o json`.
type WaitingList struct {
	Schema      int          `json:"schema"`
	Time        Time         `json:"time"`
	Environment backend.Safe `json:"environment"`
	Waiting     []Waiting    `json:"waiting"`
}

// WriteWaiting prints the list for people.
func WriteWaiting(w io.Writer, d WaitingList) error {
	var b strings.Builder
	if len(d.Waiting) == 0 {
		b.WriteString("nothing waits\n")
	}
	for _, x := range d.Waiting {
		left := "due now"
		switch {
		case x.Begun:
			left = "its removal has begun"
		case x.Due.After(d.Time.Time):
			left = "removed in " + backend.Age(x.Due.Sub(d.Time.Time))
		}
		fmt.Fprintf(&b, "%s\n    quarantined %s ago as %s, %s", x.Path, backend.Age(d.Time.Sub(x.Moved.Time)), x.Name, left)
		if x.Plan != nil {
			fmt.Fprintf(&b, ", plan %s", backend.Clean(*x.Plan, 40))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
