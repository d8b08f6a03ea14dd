// Package config reads the configuration file: strictly, with the place of every error and the nearest known key. The
// options of a source are decoded a second time, into the struct of its kind, and stay refusable by place after that.
package config
