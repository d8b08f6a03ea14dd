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
	direct := 0
	var b strings.Builder
	for _, p := range slices.Sorted(maps.Keys(mods)) {
		m := mods[p]
		how := ""
		for _, line := range strings.Split(string(goMod), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), p+" ") && !strings.Contains(line, "// indirect") {
				how = "direct"
				direct++
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", p, m.Version, licenceOf(t, m.Dir), how)
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

This page is written by a test (` + "`go test ./test -run Dependencies -update`" + `) from what is linked into the Linux binary:
%d modules, %d of them required directly. Versions are exact; ` + "`go.sum`" + ` holds their hashes. The static, stripped
binary (` + "`CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' .`" + `) is under 26 MB; the CI script measures it.

Modules that only tests use (terminal emulator, golden files, script tests, pseudo-terminals, leak checks) are in
` + "`go.mod`" + ` but not in the binary.

| module | version | licence | |
|---|---|---|---|
%s
## Components of the Charm libraries that are not used

The theme's styles and borders, the table of keys, the footer's keys, text fields, the bar of a run and the sign that turns are the
libraries'. These were tried on a screen of 120x40 and stay our own, because each costs more than a whole key may (0.2 ms). The machine was busy with other work; the ratios count:

| component | for | theirs | ours |
|---|---|---|---|
| ` + "`viewport`, `View`" + ` | a runbook page of 300 lines | 24 ms | 0.01 ms |
| ` + "`viewport`, `SetContentLines`" + ` alone | the same, drawn by us: it measures every line | 4.0 ms | 0.01 ms |
| ` + "`lipgloss.JoinHorizontal`" + ` | a table with its pane beside it | 0.84 ms | 0.04 ms |
| ` + "`lipgloss.JoinVertical`" + ` | header, body and footer | 0.72 ms | 0.02 ms |
| ` + "`lipgloss` layers" + ` | a dialog over the screen | 5.6 ms | 0.29 ms |
| ` + "`bubbles/table`" + ` | the tables | 4.5 ms a key | 0.2 ms |

` + "`JoinHorizontal`" + ` joins the columns of the help, which is laid out once. ` + "`help.FullHelpView`" + ` does not wrap: lines of the
help would be cut at 80 columns. The borders of ` + "`lipgloss`" + ` styles have colours but no bold and no title, so a box takes the characters
and styles from the library and is put together by us.

## Tried and not taken

What a kept library could do instead of our code, what was tried on 22 November 2026, and why ours stayed.

| for | tried | what came of it |
|---|---|---|
| the API of a Prometheus server (` + "`backend/promapi`" + `) | ` + "`github.com/prometheus/client_golang/api/prometheus/v1`" + ` v1.25.0 | The binary grows from 21.9 to 26.9 MB, a fifth more, by 4 modules. The client reads bodies of any size, sends POST first, accepts duplicate members, and drops ` + "`Retry-After`" + `. The saving is about 40 lines: budgets, redirects and error kinds stay ours. Its sample types (` + "`prometheus/common/model`" + `) are used, for pages through ` + "`expfmt.ExtractSamples`" + ` too. |
| tailing logs (` + "`backend/logs`" + `) | ` + "`github.com/nxadm/tail`" + ` v1.4.11 | A file that was emptied and filled again between two looks is read from the old offset: a line comes in half and the one before it is lost. A line of 64 MB without an end takes 419 MB of heap. Each file costs two goroutines. It has no lookback by time and does not know a copy that rotation made. |
| logfmt and other text lines (` + "`backend/logs`" + `) | ` + "`github.com/go-logfmt/logfmt`" + ` v0.6.1 | It ends at the first stray quote or equals sign, and an agent's command is full of them: the rest of the line is lost. Words without quotes become keys. Ours looks for named fields only and takes what it finds. |
| JSON lines and bodies (` + "`backend/logs`, `backend/wire`" + `) | ` + "`github.com/tidwall/gjson`" + ` v1.20.1; maps of ` + "`jsontext.Value`" + ` | ` + "`go-json-experiment/json`" + ` does the parsing, checking and pointers of errors. Ours is 50 lines that step over values which it found valid: 10,000 entities take 20 allocations (130,027 with maps) in the same time. gjson is twice as fast and accepts duplicate members and invalid UTF-8, which are refused here. |
| positions in TOML (` + "`config/tree.go`" + `) | ` + "`github.com/BurntSushi/toml`" + ` v1.6.0 | It gives the positions of errors, not of values that are sound by its own rules and refused by ours. ` + "`go-toml/v2/unstable`" + ` gives both and is what the tree is built with. |
`
