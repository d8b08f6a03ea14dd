package alerts

import (
	"strings"

	"sandglass/backend"
)

// local are the names of platforms that a provider on the agents' own host does not use.
const local = NamesSQLite | NamesBinding | NamesDatabase | NamesStatement | NamesStorage

// own are settings and objects that only the framework's and the platforms' own errors name: such an error outweighs the
// name of a provider.
var own = [...]string{"tmpdirroot", "backupr2binding", "shareacrosssessions", "new_sqlite_classes", "storage.sql", "posix", "win32", "max_instances", "maxinstances", "d1_error", "d1 db"}

// Foreign is what an error cannot name as the cause under a provider of the framework: the provider does not use it. Nothing
// is known of a provider of one's own.
func Foreign(provider, text string) Naming {
	out := unused(provider)
	if out == 0 {
		return 0
	}
	text = strings.ToLower(text)
	for _, x := range own {
		if strings.Contains(text, x) {
			return 0
		}
	}
	return out
}

// unused is what a provider of the framework does not use.
func unused(provider string) Naming {
	switch provider {
	case "in-memory":
		return NamesSQLite | NamesPOSIX | NamesPath | NamesImage | NamesEngine | NamesQuota | NamesStorage
	case "local-bash", "local-sandbox":
		return local | NamesImage | NamesEngine | NamesQuota
	case "docker":
		return local | NamesPOSIX
	case "cloudflare-filestore":
		return NamesPOSIX | NamesPath | NamesImage | NamesEngine | NamesQuota
	case "cloudflare-dynamic-worker":
		return NamesSQLite | NamesPOSIX | NamesPath | NamesImage | NamesEngine | NamesQuota
	case "cloudflare-sandbox":
		return NamesSQLite | NamesPOSIX | NamesPath | NamesEngine
	}
	return 0
}

// NamesOf is what the error of a workspace names, as far as its provider uses it.
func (e *Env) NamesOf(w *backend.Workspace) Naming {
	n := e.Names(w.LastError)
	if n&unused(w.Provider.String()) == 0 {
		return n
	}
	return n &^ Foreign(w.Provider.String(), w.LastError.String())
}

// HasMachine reports whether a provider of the framework puts a machine behind its workspaces. An unknown one may.
func HasMachine(provider string) bool {
	switch provider {
	case "in-memory", "local-bash", "local-sandbox", "cloudflare-filestore", "cloudflare-dynamic-worker":
		return false
	}
	return true
}
