// The linter github.com/nishanths/exhaustive, built with a newer golang.org/x/tools than the one that it asks for, which does
// not build with this Go. It is a module of its own, so that the console does not depend on it.
package main

import (
	"github.com/nishanths/exhaustive"
	"golang.org/x/tools/go/analysis/singlechecker"
)

func main() { singlechecker.Main(exhaustive.Analyzer) }
