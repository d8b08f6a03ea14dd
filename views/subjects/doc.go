// Package subjects says what each kind of subject looks like: its columns, its details page and its words. Screens, `get`,
// filters and csv headers read the same columns, so that a command can print whatever a screen shows.
package subjects
