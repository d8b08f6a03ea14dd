package test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite generated pages and pictures")

// module is what `go list` says of a module that is part of the program.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// modulesInBuild lists the modules whose code is linked into the program for Linux.
func modulesInBuild(t *testing.T) map[string]module {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=Module", ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	mods := map[string]module{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct{ Module *module }
		if err := dec.Decode(&p); err != nil {
			t.Fatalf("go list: %v", err)
		}
		if p.Module != nil && !p.Module.Main {
			mods[p.Module.Path] = *p.Module
		}
	}
	return mods
}

// licenceOf names the licence by the words of its file.
func licenceOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "[Ll][Ii][Cc][Ee][Nn][CcSs][Ee]*"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s has no licence file", dir)
		return "?"
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(b)), " ")
	switch {
	case strings.Contains(text, "Apache License") && strings.Contains(text, "Version 2.0"):
		return "Apache-2.0"
	case strings.Contains(text, "Permission is hereby granted, free of charge"):
		return "MIT"
	case strings.Contains(text, "Redistribution and use in source and binary forms") && strings.Contains(text, "Neither the name"):
		return "BSD-3-Clause"
	case strings.Contains(text, "Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	}
	t.Errorf("%s: a licence this test does not know", files[0])
	return "?"
}

func TestDependenciesPageIsCurrent(t *testing.T) {
	mods := modulesInBuild(t)
	goMod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for _, line := range strings.Split(string(goMod), "\n") {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.Contains(line, "// indirect") {
			required[name] = true
		}
	}
	direct, lists := 0, map[string][]string{}
	for _, p := range slices.Sorted(maps.Keys(mods)) {
		m, star := mods[p], ""
		if required[p] {
			star = "*"
			direct++
		}
		licence := licenceOf(t, m.Dir)
		lists[licence] = append(lists[licence], p+star+" "+m.Version)
	}
	var b strings.Builder
	for _, licence := range slices.Sorted(maps.Keys(lists)) {
		fmt.Fprintf(&b, "**%s**\n\n```\n%s\n```\n\n", licence, strings.Join(lists[licence], "\n"))
	}
	page := fmt.Sprintf(dependenciesPage, len(mods), direct, b.String())
	if *update {
		if err := os.WriteFile("docs/dependencies.md", []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != page {
		t.Error("docs/dependencies.md is stale; run: go test ./test -run Dependencies -update")
	}
}

const dependenciesPage = `# Dependencies

After this page you know what is linked into the Linux binary, with its licence. A test writes it (` + "`go test ./test -run Dependencies -update`" + `):
%d modules, %d of them required directly (with a star). Versions are exact; ` + "`go.sum`" + ` holds their hashes. The static, stripped
binary (` + "`CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' .`" + `) is under 33 MB; the CI script measures it.

Modules that only tests use (terminal emulator, golden files, script tests, pseudo-terminals, leak checks) are in
` + "`go.mod`" + ` but not in the binary.

%s## Libraries that were tried

Our own code stays where a library costs more than a key press may (0.2 ms) or loses data. Tried on 22 November 2026:

| For | Tried | Result |
|---|---|---|
| pages, tables, layers | ` + "`viewport`" + `, ` + "`bubbles/table`" + `, ` + "`lipgloss`" + ` joins and layers | 0.7 to 24 ms each, ours 0.01 to 0.3 ms |
| a Prometheus server's API | ` + "`client_golang`" + ` v1.25.0 | 5 MB more; unbounded bodies, POST first, no ` + "`Retry-After`" + ` |
| tailing logs | ` + "`nxadm/tail`" + ` v1.4.11 | loses a line after copy and truncate; 64 MB lines take 419 MB |
| logfmt | ` + "`go-logfmt/logfmt`" + ` v0.6.1 | ends at the first stray quote |
| JSON | ` + "`tidwall/gjson`" + ` v1.20.1 | accepts duplicate members and invalid UTF-8 |
| positions in TOML | ` + "`BurntSushi/toml`" + ` v1.6.0 | no positions of valid values |
`
