package app

import (
	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/config"
)

// LocalRunbook is what the rules' configuration adds to the runbook: by rule, and by the number of a page what all rules
// that lead to it add. Where the references lead is the same on all pages.
func LocalRunbook(rules []alerts.Rule, c *config.Config) map[string]runbook.Local {
	out := map[string]runbook.Local{runbook.EveryPage: {References: references(c)}}
	pages := map[string][]runbook.Local{}
	for _, r := range rules {
		m := r.Meta()
		if m.RunbookText == "" && len(m.RunbookLinks) == 0 {
			continue
		}
		l := runbook.Local{Text: m.RunbookText}
		for _, link := range m.RunbookLinks {
			if title, address, err := alerts.SplitLink(link); err == nil { // the rules refused others
				l.Links = append(l.Links, runbook.Link{Title: title, URL: address})
			}
		}
		out[m.Name] = l
		for _, n := range runbook.Leads(m.Explain.Runbook) {
			pages[n] = append(pages[n], l)
		}
	}
	for n, all := range pages {
		out[n] = runbook.Together(all)
	}
	return out
}

// references are the addresses that the configuration gives the links at the end of the pages.
func references(c *config.Config) runbook.References {
	if c == nil {
		return runbook.References{}
	}
	r := runbook.References{Base: c.DocsURL}
	for _, text := range c.References {
		if title, address, err := alerts.SplitLink(text); err == nil { // the configuration refused others
			r.Own = append(r.Own, runbook.Link{Title: title, URL: address})
		}
	}
	return r
}
