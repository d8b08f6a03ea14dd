package cloudflare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// outcome is what came of a command.
type outcome struct {
	stdout, stderr string
	exit           int
	fault          string // it could not begin
	hangs          bool   // no end is ever told
	lasts          time.Duration
}

const home = "/root"

// there reports whether a process can begin in a directory.
func (x *Box) there(dir string) bool {
	if dir == "/workspace" {
		return x.Root == Directory
	}
	return slices.Contains([]string{"/", home, "/tmp"}, dir)
}

// run runs a command. session is empty for a process of its own.
func (b *Bridge) run(x *Box, argv []string, session, cwd string) outcome {
	line := shellLine(argv)
	x.Commands = append(x.Commands, line)
	switch {
	case x.Wedged:
		return outcome{hangs: true}
	case x.Unknown && session == "" && cwd != "":
		return outcome{fault: fmt.Sprintf("CommandError: Failed to execute command '%s' in session 'sandbox-%s': Unknown Error, TODO", line, x.ID)}
	}
	if session == "" {
		dir := cwd
		if dir == "" {
			dir = "/workspace"
		}
		if !x.there(dir) {
			if b.o.Old {
				return outcome{fault: fmt.Sprintf("CommandError: Failed to execute streaming command '%s' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'", line)}
			}
			return outcome{fault: "Command execution failed"}
		}
		return x.do(argv, dir)
	}
	dir, known := x.sessions[session]
	if !known {
		if dir = "/workspace"; cwd != "" {
			dir = cwd
		}
		if !x.there(dir) {
			dir = home
		}
		x.sessions[session] = dir
	}
	if cwd != "" && !x.there(cwd) {
		return outcome{stderr: fmt.Sprintf("Failed to change directory to '%s'\n", cwd), hangs: true}
	}
	return x.do(argv, dir)
}

// do carries out the commands that a demo knows. A shell knows its conditions on /workspace and little else.
func (x *Box) do(argv []string, dir string) outcome {
	switch argv[0] {
	case "true":
		return outcome{}
	case "pwd":
		return outcome{stdout: dir + "\n"}
	case "echo":
		return outcome{stdout: strings.Join(argv[1:], " ") + "\n"}
	case "sleep":
		s, _ := strconv.ParseFloat(argv[len(argv)-1], 64)
		return outcome{lasts: time.Duration(s * float64(time.Second))}
	case "rm":
		if slices.Contains(argv[1:], "/workspace") {
			x.Root, x.Files = Missing, map[string]string{}
		}
		return outcome{}
	case "readlink":
		if x.LinkTo == "" {
			return outcome{exit: 1}
		}
		return outcome{stdout: x.LinkTo + "\n"}
	case "ls":
		return x.list()
	case "sh", "bash":
		return x.shell(argv[len(argv)-1], dir)
	}
	return outcome{stderr: "bash: line 1: " + argv[0] + ": command not found\n", exit: 127}
}

func (x *Box) list() outcome {
	if x.Root != Directory {
		return outcome{stderr: "ls: cannot access '/workspace/': No such file or directory\n", exit: 2}
	}
	var names []string
	for path := range x.Files {
		name, _, below := strings.Cut(strings.TrimPrefix(path, "/workspace/"), "/")
		if below {
			name += "/"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return outcome{}
	}
	return outcome{stdout: strings.Join(names, "\n") + "\n"}
}

func (x *Box) shell(script, dir string) outcome {
	switch {
	case strings.HasPrefix(script, "exit "):
		code, _ := strconv.Atoi(strings.TrimPrefix(script, "exit "))
		return outcome{exit: code}
	case script == "cd / && pwd":
		return outcome{stdout: "/\n"}
	case strings.Contains(script, "readlink /workspace"):
		if x.Root == Link {
			return outcome{stdout: "link\n" + x.LinkTo + "\n"}
		}
		return outcome{stdout: x.Root + "\n"}
	case strings.Contains(script, "rm -- /workspace && mkdir"):
		if x.Root != Link {
			return outcome{stdout: "changed\n"}
		}
		x.Root, x.LinkTo = Directory, ""
		return outcome{}
	}
	var out outcome
	for part := range strings.SplitSeq(script, ";") {
		word, is := strings.CutPrefix(strings.TrimSpace(part), "echo ")
		switch text, toErr := strings.CutSuffix(word, " >&2"); {
		case !is:
			return outcome{stderr: "bash: syntax the demo does not know\n", exit: 2, fault: ""}
		case toErr:
			out.stderr += text + "\n"
		default:
			out.stdout += text + "\n"
		}
	}
	return out
}

// shellLine is a command as the bridge writes it into messages.
func shellLine(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = w
		if strings.ContainsAny(w, " \t\n'\"$&;|<>()*?[]{}~#!`\\") || w == "" {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// read is the content of a file; one that is not there is empty.
func (x *Box) read(path string) string {
	if x.Root != Directory {
		return ""
	}
	return x.Files[path]
}

// write writes a file and makes the directories above it; an error is what the bridge says.
func (x *Box) write(path, content string) string {
	switch {
	case x.Unknown:
		return "CommandError: Failed to write file '" + path + "': Unknown Error, TODO"
	case x.Root == Link:
		return "SandboxError: Failed to write file '" + path + "': mkdir: cannot create directory '/workspace': File exists"
	case x.Root == Other:
		return "SandboxError: Failed to write file '" + path + "': Not a directory"
	}
	x.Root = Directory
	x.Files[path] = content
	return ""
}
