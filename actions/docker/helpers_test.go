package docker

import "fmt"

// decode stands for the options of a configuration: it changes what is decoded into.
type decode func(into any)

func (d decode) Decode(into any) error {
	if d != nil {
		d(into)
	}
	return nil
}

func (d decode) Refuse(key, format string, args ...any) error {
	return fmt.Errorf("config.toml:3:1: %s: "+format, append([]any{key}, args...)...)
}
