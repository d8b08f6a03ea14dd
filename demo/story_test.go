package demo

import (
	"strings"
	"testing"
	"time"
)

// textsOf are the words of an error or a log line, and which providers can have them.
var textsOf = []struct {
	words []string
	of    []provider
}{
	{[]string{"tmpdirRoot", "mkdtemp", "tmpdir close failed"}, []provider{localBash}},
	{[]string{"backupR2Binding", "max_instances", "sandbox instance"}, []provider{cloudSandbox}},
	{[]string{"D1_ERROR", "r2 bucket"}, []provider{filestore, cloudSandbox}},
	{[]string{"did not answer its first command", "manifest unknown", "exited with code", "is restarting"}, []provider{dockerHost}},
	{[]string{"schemaVersion"}, []provider{localBash, localSandbox, dockerHost, filestore, cloudSandbox}},
	{[]string{"setup command", "rejected", "allowlist"}, []provider{localBash, localSandbox, dockerHost, cloudSandbox}},
}

func fitsProvider(t *testing.T, where, text string, p provider) {
	t.Helper()
	for _, x := range textsOf {
		for _, word := range x.words {
			fits := false
			for _, of := range x.of {
				fits = fits || of == p
			}
			if strings.Contains(text, word) && !fits {
				t.Errorf("%s: %q of a workspace of %s", where, text, p)
			}
		}
	}
}

// TestStoriesFitTheirProviders: in every scenario an error, a log line and a command belong to a provider that can have
// them, a provider to its runtime, and a container to a session of the JS runtime.
func TestStoriesFitTheirProviders(t *testing.T) {
	for _, s := range Scenarios() {
		for _, size := range []int{120, defaultWorkspaces} {
			f := testFleet(t, s.Name, size, 1)
			byID := map[string]provider{}
			for i := range f.workspaces {
				x := &f.workspaces[i]
				byID[f.At(0).sessionID(int(x.session))+"/"+f.workspaceName(int32(i))] = x.provider
				cloud := x.provider == filestore || x.provider == cloudSandbox
				if cloud != (f.sessions[x.session].runtime == durableObject) {
					t.Errorf("%s: %s in the runtime %s", s.Name, x.provider, f.sessions[x.session].runtime)
				}
				if n, ok := f.containerOf[int32(i)]; ok && (x.provider != dockerHost || f.containers[n].slot != x.session) {
					t.Errorf("%s: workspace %d of %s has container %s", s.Name, i, x.provider, f.containers[n].name)
				}
			}
			for _, at := range []time.Duration{0, time.Minute, 4 * time.Minute, 20 * time.Minute} {
				w := f.At(at)
				for i := range f.workspaces {
					fitsProvider(t, s.Name, w.wireEntry(int32(i)).LastError, f.workspaces[i].provider)
				}
				for where := range instances {
					for _, l := range w.logLines(where, at-time.Minute) {
						if p, ok := byID[l.session+"/"+l.workspace]; ok {
							fitsProvider(t, s.Name, l.message+": "+l.cause, p)
						}
					}
				}
				for i := range f.containers {
					if b := &f.containers[i]; b.slot != noIndex && f.sessions[b.slot].runtime != jsRuntime {
						t.Errorf("%s: container %s belongs to a session in a Durable Object", s.Name, b.name)
					}
				}
			}
		}
	}
}

// TestLeftDirectoriesAreThere: a line about a directory that could not be removed names one that was there by then, and
// that nothing uses.
func TestLeftDirectoriesAreThere(t *testing.T) {
	f := testFleet(t, "tmp-leak", defaultWorkspaces, 1)
	byPath := map[string]*scratchDir{}
	for i := range f.dirs {
		byPath[f.scratchPath(&f.dirs[i])] = &f.dirs[i]
	}
	lines := 0
	for _, l := range f.At(15*time.Minute).logLines(eu, -logPast) {
		if l.message != msgTmpdir {
			continue
		}
		lines++
		_, path, _ := strings.Cut(strings.TrimSuffix(l.cause, "'"), "rmdir '")
		if d := byPath[path]; d == nil || d.held || d.mounted || d.made > max(l.at, 0) || l.at < 0 && -d.age > l.at {
			t.Errorf("at %s %s: %+v", l.at, l.cause, d)
		}
	}
	if lines < 30 {
		t.Errorf("%d lines", lines)
	}
}
