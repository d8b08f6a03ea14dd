//go:build !unix

package main

func canSuspend() bool { return false }
