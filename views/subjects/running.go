package subjects

import (
	"strings"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// mostNamed is how many versions are named; of more, the rest is counted.
const mostNamed = 4

// Mixed names what a source's running sessions or sandboxes run where that is not one thing: "mixed: 3 on 1.4.2, 11 on
// 1.4.3"; empty where it is one, or where nothing states it. Images of different names are different things, so only
// those of one name are mixed.
func Mixed(st *fleet.State, source string, kind backend.Kind) backend.Safe {
	var parts []backend.Safe
	for _, group := range groups(st.Running(source, kind), kind) {
		if len(group) < 2 {
			continue
		}
		var named []backend.Safe
		for _, v := range group[:min(len(group), mostNamed)] {
			named = append(named, backend.Textf("%d on %s", v.Running, v.Version))
		}
		if rest := group[len(named):]; len(rest) > 0 {
			n := 0
			for _, v := range rest {
				n += v.Running
			}
			named = append(named, backend.Textf("%d on %s", n, kit.Count(len(rest), "other", "others")))
		}
		parts = append(parts, backend.Textf("mixed: %s", backend.Join(named, ", ")))
	}
	return backend.Join(parts, "; ")
}

// groups parts images by their name; versions are one group.
func groups(all []fleet.VersionCount, kind backend.Kind) [][]fleet.VersionCount {
	if kind != backend.KindSandbox {
		return [][]fleet.VersionCount{all}
	}
	var out [][]fleet.VersionCount
	at := map[string]int{}
	for _, v := range all {
		name := imageName(v.Version.String())
		i, had := at[name]
		if !had {
			i = len(out)
			at[name] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], v)
	}
	return out
}

// imageName is an image reference without tag and digest. A colon before a slash is that of a registry's port.
func imageName(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		return ref[:i]
	}
	return ref
}

// Versions is what a source's sessions and sandboxes run: the one version, or what is mixed. mixed says that something is.
func Versions(st *fleet.State, source string) (text backend.Safe, mixed bool) {
	var parts []backend.Safe
	for _, kind := range []backend.Kind{backend.KindSession, backend.KindSandbox} {
		list := st.Running(source, kind)
		switch m := Mixed(st, source, kind); {
		case !m.IsEmpty():
			parts, mixed = append(parts, m), true
		case len(list) == 1:
			parts = append(parts, list[0].Version)
		case len(list) > 1:
			parts = append(parts, backend.Textf("%d images", len(list)))
		}
	}
	return backend.Join(parts, "; "), mixed
}

func runsCell(h *fleet.SourceHealth, c *views.Snapshot) Cell {
	s, mixed := Versions(c.State, h.Key.Source)
	cell := text(s, theme.Dim)
	if mixed {
		cell.Tone, cell.Short = theme.Warn, backend.Text("mixed")
	}
	return cell
}
