package logs

import (
	"bytes"
	"regexp"
	"strings"
)

// sdkNotices are what the OpenAI Agents SDK writes in its level of debugging where it goes on (src/agents/extensions/sandbox/blaxel/sandbox.py).
func sdkNotices() (out []pattern) {
	for _, n := range [...]struct{ name, text, meaning string }{
		{"root-mkdir-failed", "orkspace root mkdir failed", "the agent's SDK could not make its root, and tries again later"},
		{"persist-cleanup-failed", "ersist cleanup failed", "the agent's SDK could not remove the archive of a save"},
		{"hydrate-cleanup-failed", "ydrate cleanup failed", "the agent's SDK could not remove the archive of a restore"},
	} {
		out = append(out, pattern{name: n.name, contains: n.text, class: ClassSDKNotice, tier: tierEvidence, meaning: n.meaning,
			hits:   []string{`{"level":"debug","message":"W` + n.text + `: TimeoutError","session_id":"s1"}`, `2026-01-01T12:00:00Z DEBUG agents W` + n.text + ` (non-fatal)`},
			misses: []string{`{"level":30,"msg":"tool done","output":"W` + n.text + `"}`}})
	}
	return out
}

// missingPackage is the error of an SDK whose extra for a kind of sandboxes is not installed, or of what it imports for that.
var missingPackage = regexp.MustCompile(`\b([A-Z][A-Za-z0-9]{1,30})SandboxClient requires the optional\b|\bNo module named '?"?(blaxel)\b`)

// packageTexts are how its lines are found.
var packageTexts = [...]string{"SandboxClient requires the optional", "No module named"}

// missingPackages are the errors of an agent whose SDK cannot be used where it runs.
func missingPackages() (out []pattern) {
	const meaning = "a package that an agent's SDK needs is not installed where it runs"
	for _, p := range [...]struct{ name, text, line string }{
		{"extra-missing", packageTexts[0], "ImportError: BlaxelSandboxClient requires the optional `blaxel` dependency."},
		{"module-missing", packageTexts[1], "ModuleNotFoundError: No module named 'blaxel'"},
	} {
		out = append(out, pattern{name: p.name, contains: p.text, class: ClassPackageMissing, tier: tierError, meaning: meaning, inError: true, quoted: true, also: missingPackage,
			hits:   []string{`{"level":"error","message":"agent failed","session_id":"s1","error":"` + p.line + `"}`, `2026-01-01T12:00:00Z ERROR agents ` + p.line},
			misses: []string{`{"level":30,"msg":"tool done","output":"` + p.line + `"}`, `{"level":"error","message":"No module named 'numpy'; it requires the optional one"}`}})
	}
	return out
}

// packageSample is what is kept of such a line: which extra is missing, and the command that installs it.
func packageSample(r record, line []byte) []byte {
	for _, text := range [][]byte{r.message, r.errText, line} {
		if m := missingPackage.FindSubmatch(text); m != nil {
			extra := strings.ToLower(string(bytes.Join(m[1:], nil)))
			return []byte("the extra " + extra + " of the OpenAI Agents SDK is not installed where the agent runs: pip install 'openai-agents[" + extra + "]'")
		}
	}
	return line
}
