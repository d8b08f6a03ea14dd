package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// shellScripts are the completion scripts of the shells. The library's do nothing within quotes, where filters with two
// terms have to be typed; and that for bash needs a package.
var shellScripts = map[string]func(root *cobra.Command, w io.Writer, describe bool) error{
	"bash": func(root *cobra.Command, w io.Writer, describe bool) error {
		if err := root.GenBashCompletionV2(w, describe); err != nil {
			return err
		}
		_, err := io.WriteString(w, bashWithinQuotes)
		return err
	},
	"zsh": func(root *cobra.Command, w io.Writer, describe bool) error {
		if describe {
			return root.GenZshCompletion(w)
		}
		return root.GenZshCompletionNoDesc(w)
	},
	"fish": func(root *cobra.Command, w io.Writer, describe bool) error {
		return root.GenFishCompletion(w, describe)
	},
}

// shellChanges are parts of the library's scripts, each with what takes its place.
var shellChanges = map[string][][2]string{
	"zsh": {
		{`    words=("${=words[1,CURRENT]}")`, `    local before="${words[2,CURRENT-1]}"
    words=("${=words[1,CURRENT]}")`},
		{`    out=$(eval ${requestComp} 2>/dev/null)`, `    if [[ -n "${compstate[quote]}" ]]; then # within quotes: the word without them
        requestComp="${words[1]} __complete ${before} ${(q)PREFIX}"
    fi
    out=$(eval ${requestComp} 2>/dev/null)`},
	},
	"fish": {
		{`(string escape -- (commandline -ct))`, `(string escape -- (commandline -ct | string replace -r '^[\'"]' ''))`},
		{`(commandline -t | string escape --style=regex)`, `(commandline -t | string replace -r '^[\'"]' '' | string escape --style=regex)`},
	},
}

// bashWithinQuotes follows the library's script. Without the package bash-completion it joins the words itself.
const bashWithinQuotes = `
__sandglass_words()
{
    local i part
    words=() cword=0
    for ((i = 0; i <= COMP_CWORD; i++)); do
        part=${COMP_WORDS[i]}
        if ((i > 1)) && [[ $part == [=:]* || ${words[cword]} == *[=:] ]]; then
            words[cword]+=$part
        else
            cword=${#words[@]}
            words+=("$part")
        fi
    done
    cur=${words[cword]} prev=
    if ((cword > 0)); then prev=${words[cword-1]}; fi
}

__sandglass_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
    else
        __sandglass_words
    fi
}

__sandglass_ask()
{
    local line found=()
    while IFS='' read -r line; do
        [[ $line == :[0-9]* ]] && break
        line=${line%%$'\t'*}
        [[ $line == "$2"* ]] && found+=("$line")
    done < <(eval "${words[0]} __complete ${words[*]:1:cword-1} $(printf '%q' "$1$2")" 2>/dev/null)
    if ((${#found[@]} > 0)); then COMPREPLY=("${found[@]}"); fi
}

# Within quotes the program is asked for the word without them; the shell keeps them.
__sandglass_start()
{
    local quote=${COMP_WORDS[COMP_CWORD]:0:1}
    if [[ $quote != \' && $quote != \" ]]; then
        __start_sandglass
        return
    fi
    local cur prev words cword flag
    __sandglass_words
    flag=${words[cword]%%"$quote"*}
    COMPREPLY=()
    if [[ $(type -t compopt) == builtin ]]; then compopt +o default 2>/dev/null; fi
    __sandglass_ask "$flag" "${COMP_WORDS[COMP_CWORD]:1}"
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *= ]]; then
        __sandglass_ask "$flag" "${COMPREPLY[0]}" # a field alone would close the quotes
    fi
}

complete -o default -F __sandglass_start sandglass
`

// completesWithinQuotes makes the commands that print the scripts print ours.
func (p *Program) completesWithinQuotes(root, completion *cobra.Command) {
	for _, c := range completion.Commands() {
		c.Args = noArgs
		script := shellScripts[c.Name()]
		if script == nil {
			continue
		}
		c.RunE = func(c *cobra.Command, _ []string) error {
			plain, err := c.Flags().GetBool("no-descriptions")
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := script(root, &b, !plain); err != nil {
				return err
			}
			text := b.String()
			for _, change := range shellChanges[c.Name()] {
				if !strings.Contains(text, change[0]) {
					return fmt.Errorf("the script for %s is not as expected: %q is missing", c.Name(), change[0])
				}
				text = strings.ReplaceAll(text, change[0], change[1])
			}
			return unwrittenIf(p.write(text))
		}
	}
}
