package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
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
			if err := p.writeManPages(c.Root(), args[0]); err != nil {
				return failed("the manual pages were not written", err)
			}
			return unwrittenIf(p.write(fmt.Sprintf("wrote the manual pages into %s; read one with: man %s\n", p.clean(args[0]), p.clean(filepath.Join(args[0], "sandglass.1")))))
		},
	}
}

// writeManPages writes the page of a command and of those below it.
func (p *Program) writeManPages(c *cobra.Command, dir string) error {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			if err := p.writeManPages(sub, dir); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, manName(c)+".1"), []byte(manPage(c, p.Version, p.Now())), 0o644)
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is a page in the macros of man(7): what the help of c says, in the order that readers of manuals know.
func manPage(c *cobra.Command, version string, now time.Time) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q \"1\" %q %q \"Sandglass\"\n.nr HY 0\n.nh\n.ad l\n", strings.ToUpper(manName(c)), now.Format("Jan 2006"), "Sandglass "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s\n", roff(manName(c)+" - "+c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(c.UseLine()))
	long := c.Long
	if long == "" {
		long = c.Short
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.EX\n%s\n.EE\n", roff(long))
	manFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manFlags(&b, "OPTIONS INHERITED FROM PARENT COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLE\n.EX\n%s\n.EE\n", roff(c.Example))
	}
	if see := manSeeAlso(c); len(see) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(see, ", "))
	}
	return b.String()
}

// manFlags shows flags as the help does: with the name of the value, and the default behind the text.
func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		switch value := f.DefValue; {
		case f.NoOptDefVal != "" || value == "" || value == "0" || value == "[]" || value == "false" || strings.HasSuffix(usage, ")"):
		default:
			usage += " (default " + value + ")"
		}
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fP, ", f.Shorthand)
		}
		fmt.Fprintf(b, "\\fB%s\\fP", roff("--"+f.Name))
		if name != "" {
			b.WriteString("=" + roff(name))
		}
		fmt.Fprintf(b, "\n%s\n", roff(usage))
	})
}

func manSeeAlso(c *cobra.Command) []string {
	var out []string
	add := func(o *cobra.Command) { out = append(out, `\fB`+roff(manName(o))+`\fP(1)`) }
	if c.HasParent() {
		add(c.Parent())
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
			add(sub)
		}
	}
	return out
}

// roff is text that a manual shows as it is: backslashes and hyphens are no marks, and a dot or an apostrophe that begins a line
// is no request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
