//go:build !unix

package audit

import (
	"context"
	"errors"
	"os"
)

// Without locks between processes and links that can be told from files the chain cannot be kept, so that here every
// use of the journal is refused, and with it every action.
var errNoJournal = errors.New("the audit journal needs a system with flock")

func openAppend(string) (*os.File, error) { return nil, errNoJournal }

func openRead(string) (*os.File, error) { return nil, errNoJournal }

func openReserve(string) (*os.File, error) { return nil, errNoJournal }

func holdLock(string) (*os.File, error) { return nil, errNoJournal }

func isFull(error) bool { return false }

func lock(context.Context, *os.File, bool) error { return errNoJournal }

func unlock(*os.File) error { return errNoJournal }

func syncDir(string) error { return errNoJournal }

func checkDir(string) error { return errNoJournal }
