package config

import "slices"

// Console is [ui] of the file: how the console looks.
type Console struct {
	Theme string `toml:"theme" doc:"the console's colours: default, high-contrast, colour-blind (blue and orange), or none; :theme NAME changes it"`
}

func consoleDefaults() Console { return Console{Theme: "default"} }

// checkConsole refuses what the console does not have.
func (p *parser) checkConsole(o *options, c Console) {
	if p.known.Themes != nil && !slices.Contains(p.known.Themes, c.Theme) {
		p.collect(o.Refuse("ui.theme", "%q is not a theme%s", c.Theme, suggest(c.Theme, p.known.Themes)))
	}
}
