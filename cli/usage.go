package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sandglass/backend"
)

// flagError says what a flag takes, in plain words.
func flagError(c *cobra.Command, err error) error {
	var said *failure
	if errors.As(err, &said) { // the flag says what it takes
		return said
	}
	f := &failure{code: ExitUsage, what: err.Error(), next: c.CommandPath() + " --help"}
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			f.what = fmt.Sprintf("unknown flag: %s in -%s", unknown.GetSpecifiedName(), short)
			break
		}
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		f.what = "unknown flag: --" + unknown.GetSpecifiedName()
		if near := backend.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			f.what += "; did you mean --" + near + "?"
		}
	case errors.As(err, &empty):
		f.what = fmt.Sprintf("--%s needs %s", empty.GetFlag().Name, takes(empty.GetFlag()))
	case errors.As(err, &wrong):
		f.what = fmt.Sprintf("--%s takes %s, not %q", wrong.GetFlag().Name, takes(wrong.GetFlag()), wrong.GetValue())
	}
	return f
}

// takes says what values a flag has.
func takes(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "duration":
		return "a duration such as 30s, 10m or 2h"
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number from 0"
	case "bool":
		return "true or false"
	}
	if name, _ := pflag.UnquoteUsage(f); name != "" && name != "string" {
		return "a " + name
	}
	return "a value"
}

// noEmpty refuses flags that are given and empty, as a script gives them whose variable is not set. What says itself that
// it is missing, and what may be empty, is left out.
func noEmpty(c *cobra.Command, _ []string) error {
	var wrong error
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Changed && f.Value.String() == "" && f.Value.Type() == "string" && !slices.Contains([]string{"reason", "yes-plan"}, f.Name) &&
			(f.Name != "filter" || c.Name() != "get") {
			wrong = &failure{code: ExitUsage, what: fmt.Sprintf("--%s is empty: it needs %s", f.Name, takes(f)), next: c.CommandPath() + " --help"}
		}
	})
	return wrong
}

// noArgs says what is meant when a command is mistyped.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	what := fmt.Sprintf("%s takes no argument, but got %q", c.CommandPath(), args[0])
	if c.HasAvailableSubCommands() {
		what = fmt.Sprintf("there is no command %q", strings.TrimPrefix(c.CommandPath()+" "+args[0], c.Root().Name()+" "))
		if near := nearCommand(c, args[0]); near != "" {
			what += fmt.Sprintf("; did you mean %q?", strings.TrimPrefix(near, c.Root().Name()+" "))
		}
	}
	return &failure{code: ExitUsage, what: what, next: c.CommandPath() + " --help"}
}

// mistyped is the first word of a command line that is neither a command below c nor of a flag; empty: there is none.
func mistyped(c *cobra.Command, args []string) string {
	if !c.HasAvailableSubCommands() || strings.Contains(c.Use, " ") { // it takes words of its own
		return ""
	}
	found, rest, err := c.Root().Find(args)
	if err != nil || found != c {
		return ""
	}
	for i := 0; i < len(rest); i++ {
		if rest[i] == "--" {
			return ""
		}
		if !strings.HasPrefix(rest[i], "-") {
			return rest[i]
		}
		name, value, joined := strings.Cut(strings.TrimLeft(rest[i], "-"), "=")
		f := c.Flag(name)
		if f == nil { // the flag itself is what is wrong
			return ""
		}
		if !joined && value == "" && f.NoOptDefVal == "" {
			i++
		}
	}
	return ""
}

// helpTopic refuses a topic that is no command.
func helpTopic(c *cobra.Command, args []string) error {
	found, rest, err := c.Root().Find(args)
	if err == nil && len(rest) == 0 {
		return nil
	}
	if found == nil {
		found = c.Root()
	}
	return noArgs(found, rest)
}

// nearCommand is the path of the command below c that is probably meant; empty: none is similar.
func nearCommand(c *cobra.Command, word string) string {
	paths := map[string]string{}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names, paths[sub.Name()] = append(names, sub.Name()), sub.CommandPath()
		}
	}
	return paths[backend.Nearest(word, names)]
}
