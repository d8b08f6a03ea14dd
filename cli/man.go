package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// manCommand writes the manual pages, one for each command.
func (p *Program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a directory",
		Long: `Write a manual page of section 1 for every command into DIR, which must exist. Read
one with: man DIR/sandglass-why.1`,
		Args: oneArg("man needs one directory that exists; sandglass man /usr/local/share/man/man1"),
		RunE: func(c *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
				return usage("man needs a directory that exists; %s does not", args[0])
			}
			if err := p.writeManPages(c.Root(), args[0], map[*pflag.Flag]bool{}); err != nil {
				return failed("the manual pages were not written", err)
			}
			return unwrittenIf(p.write(fmt.Sprintf("wrote the manual pages into %s; read one with: man %s\n", p.clean(args[0]), p.clean(filepath.Join(args[0], "sandglass.1")))))
		},
	}
}

// writeManPages writes the page of a command and of those below it. The text of the help is set as it is: Markdown would take
// <name> for a tag and join lines.
func (p *Program) writeManPages(c *cobra.Command, dir string, shown map[*pflag.Flag]bool) error {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			if err := p.writeManPages(sub, dir, shown); err != nil {
				return err
			}
		}
	}
	now, long := p.Now(), c.Long
	if long == "" {
		long = c.Short
	}
	c.InitDefaultHelpFlag()
	c.DisableAutoGenTag, c.Long = true, "```\n"+long+"\n```"
	for _, flags := range []*pflag.FlagSet{c.NonInheritedFlags(), c.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if !shown[f] { // several commands share some
				forMan(f)
			}
			shown[f] = true
		})
	}
	var page bytes.Buffer
	err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Source: "Sandglass " + p.Version, Manual: "Sandglass", Date: &now}, &page)
	if err != nil {
		return err
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), manValue.ReplaceAllFunc(page.Bytes(), unquoted), 0o644)
}

// manValue is what follows a flag's name in a page: the name of its value, which can be in quotes, or nothing.
var manValue = regexp.MustCompile(`(?m)^.*\\fB--[a-z-]+\\fP=.*$`)

func unquoted(line []byte) []byte {
	return bytes.TrimSuffix(bytes.ReplaceAll(line, []byte(`"`), nil), []byte("="))
}

// forMan shows a flag in a page as the help does: with the name of its value, and its default behind its text.
func forMan(f *pflag.Flag) {
	name, usage := pflag.UnquoteUsage(f)
	switch value := f.DefValue; {
	case f.NoOptDefVal != "" || value == "" || value == "0" || value == "[]" || value == "false" || strings.HasSuffix(usage, ")"):
	default:
		usage += " (default " + value + ")"
	}
	f.Usage, f.DefValue, f.NoOptDefVal = strings.NewReplacer("<", "\\<", ">", "\\>").Replace(usage), name, ""
}
