package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// spaceEvidence says how much room is left on the file system of a root.
func spaceEvidence(root *backend.Root, src string, at time.Time) []alerts.Evidence {
	var out []alerts.Evidence
	if free, ok := root.BytesFree.Get(); ok {
		of := ""
		if total, known := root.Bytes.Get(); known && total > 0 {
			of = " of " + bytesText(total)
		}
		fs := ""
		if !root.FSType.IsEmpty() {
			fs = " (" + root.FSType.String() + ")"
		}
		out = append(out, alerts.Evidence{Text: backend.Textf("%s%s free below %s%s", bytesText(free), of, root.Path, backend.Clean(fs, 40)), Value: backend.Known(float64(free)), Unit: "B", Source: src, At: at})
	}
	if free, ok := root.InodesFree.Get(); ok {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s inodes free", number(float64(free))), Value: backend.Known(float64(free)), Unit: "inodes", Source: src, At: at})
	}
	return out
}
