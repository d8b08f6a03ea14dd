package backend

// Fate is what becomes of the files of a workspace.
type Fate string

// The fates. Unknown: nothing states it, or the declaration that decides is missing.
const (
	FateKept    Fate = "kept"
	FateLost    Fate = "lost"
	FateOnDisk  Fate = "kept on disk, lost on tmpfs"
	FateUnknown Fate = "unknown"
	FateDispute Fate = "kept as the framework says, lost as the platform says"
	FateNone    Fate = "not applicable"
)

// Durability is what becomes of the files of a workspace in four cases.
type Durability struct {
	Close   Fate `json:"close"`   // its session closes it
	Restart Fate `json:"restart"` // the agent's process starts again
	Reboot  Fate `json:"reboot"`  // the host starts again
	Sleep   Fate `json:"sleep"`   // its container sleeps
}

// Durability follows the provider's documentation (https://agents.open-source.onhelix.ai, workspaces) and what is declared.
// The framework says that a cloudflare-sandbox hibernates with its files, the platform that a fresh container starts.
func (f *WorkspaceFacts) Durability() Durability {
	switch f.Provider.String() {
	case "in-memory", "cloudflare-dynamic-worker":
		return Durability{FateLost, FateLost, FateLost, FateNone}
	case "local-bash", "local-sandbox":
		return Durability{FateLost, FateKept, FateOnDisk, FateNone}
	case "docker":
		return Durability{FateUnknown, FateUnknown, FateUnknown, FateNone}
	case "cloudflare-filestore":
		return Durability{FateKept, FateKept, FateNone, FateKept}
	case "cloudflare-sandbox":
		d := Durability{FateUnknown, FateKept, FateNone, FateDispute}
		if destroys, ok := f.DestroyOnClose.Get(); ok && destroys {
			d.Close = FateLost
		} else if ok {
			d.Close = FateKept
		}
		return d
	}
	return Durability{FateUnknown, FateUnknown, FateUnknown, FateUnknown}
}

// CanSnapshot reports whether a provider of the framework has snapshots; false for those without and for unknown ones.
func CanSnapshot(provider string) bool { return provider == "cloudflare-sandbox" }
