package config

import (
	"fmt"
	"slices"
	"strings"

	"sandglass/backend"
)

// suggest ends an error about a word that is not among the known ones: with the nearest, or else with all of them.
func suggest(word string, known []string) string {
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	best := backend.Nearest(word, known)
	switch {
	case best != "":
		return fmt.Sprintf("; did you mean %q?", best)
	case len(known) == 0:
		return "; there are none"
	}
	return "; known: " + strings.Join(known, ", ")
}
