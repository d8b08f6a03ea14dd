package config

import (
	"slices"
	"time"

	"sandglass/backend"
)

// Console is [ui] of the file: how the console looks.
type Console struct {
	Theme string `toml:"theme" doc:"the console's colours: default, high-contrast, colour-blind (blue and orange), or none; :theme NAME changes it"`
	// MarkedFor is 0 for never.
	MarkedFor backend.Duration `toml:"marked_for" doc:"how long a row shows an oom, an eviction or a restart that is over; 0s: not at all"`
}

func consoleDefaults() Console {
	return Console{Theme: "default", MarkedFor: backend.Duration(10 * time.Minute)}
}

// longestMark bounds how long a row shows what is over.
const longestMark = 24 * time.Hour

// checkConsole refuses what the console does not have.
func (p *parser) checkConsole(o *options, c Console) {
	if c.MarkedFor < 0 || c.MarkedFor.Std() > longestMark {
		p.collect(o.Refuse("ui.marked_for", "must be from 0s to 24h"))
	}
	if p.known.Themes != nil && !slices.Contains(p.known.Themes, c.Theme) {
		p.collect(o.Refuse("ui.theme", "%q is not a theme%s", c.Theme, suggest(c.Theme, p.known.Themes)))
	}
}
