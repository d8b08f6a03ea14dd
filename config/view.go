package config

import (
	"fmt"
)

// View is one [[view]] of the file: a screen of the console, and how it shows its rows.
type View struct {
	Name    string   `toml:"name" doc:"unique; :view NAME and ctrl+p open it"`
	Screen  string   `toml:"screen" doc:"name of a screen: alerts, workspaces, sandboxes, …"`
	Filter  string   `toml:"filter" doc:"as it is typed behind /"`
	Sort    string   `toml:"sort" doc:"name of a column, with - before it for the other way round; none: the natural order; empty: the screen's own"`
	Columns []string `toml:"columns" doc:"columns that are shown at every width, with - before them columns that are not"`
	Group   string   `toml:"group" doc:"what rows are grouped by: compose, label:NAME, or a column; empty: they are not"`
	Wide    bool     `toml:"wide" doc:"gives the whole screen to the table"`
}

func viewDefaults() *View { return &View{Name: "failing", Screen: "workspaces"} }

// views reads [[view]].
func (p *parser) views(root *node) {
	lines := map[string]int{}
	for i, b := range p.blocks(root, "view") {
		v := &View{}
		o := &options{file: p.file, block: b, where: fmt.Sprintf("[[view]] number %d", i+1)}
		if b.raw != nil {
			p.inlined(b)
			continue
		}
		if !p.decode(o, v) {
			continue
		}
		if p.known.CheckView != nil {
			if key, why := p.known.CheckView(*v); key != "" {
				p.collect(o.Refuse(key, "%s", why))
				continue
			}
		}
		if line, twice := lines[v.Name]; twice {
			p.collect(o.Refuse("name", "there is a view %q already, in line %d", v.Name, line))
			continue
		}
		lines[v.Name], _ = p.file.position(b.at)
		p.config.Views = append(p.config.Views, *v)
	}
}
