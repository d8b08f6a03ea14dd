package operator

import "net/http"

// Example is an [[action]] for the example configuration.
type Example struct {
	Name    string
	Summary string
	Block   *Block
}

// Examples are verbs that many operators want. The routes are theirs to write.
func Examples() []Example {
	const base = "https://agents.example/operator/sessions/{session}"
	make := func(name, summary string, set func(*Block)) Example {
		b := BlockDefaults()
		set(b)
		return Example{name, summary, b}
	}
	return []Example{
		make("interrupt-session", "A verb of your own: ends the run of a session that hammers a broken workspace. A source allows it with actions = [\"interrupt-session\"].", func(b *Block) {
			b.Of, b.URL, b.Verify, b.Confirm = "session", base+"/interrupt", "state != running", "name"
			b.Effect = "its run stops at the next step and can be resumed"
			b.Undo = "resume the session in your application"
		}),
		make("restore-checkpoint", "A verb of your own: brings the files of a workspace back. It is verified only on the sandbox of the reference that the plan named.", func(b *Block) {
			b.Of, b.URL, b.Verify, b.Confirm = "workspace", base+"/workspaces/{workspace}/restore", condRef, "name"
			b.Body = `{"ref": "{ref}"}`
			b.Effect = "it is opened again on the sandbox that its stored reference names"
			b.Loses = "what was written in another sandbox since that reference was stored"
		}),
		make("close-workspace", "A verb of your own: closes an unused workspace.", func(b *Block) {
			b.Of, b.URL, b.Method, b.Verify, b.Confirm = "workspace", base+"/workspaces/{workspace}", http.MethodDelete, condGone, "name"
			b.Effect = "the registry closes it; a provider that destroys on close removes its sandbox"
			b.Loses = "files that its provider does not keep"
		}),
		make("bound-opens", "A verb of your own: lets a session open fewer workspaces at once, against an eviction storm.", func(b *Block) {
			b.Of, b.URL, b.Method = "session", base+"/limits", http.MethodPut
			b.Body = `{"concurrentOpens": 2}`
			b.Effect = "it opens at most 2 workspaces at once from now on"
			b.Undo = "the same request with the former number"
		}),
	}
}
