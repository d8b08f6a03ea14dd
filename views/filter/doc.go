// Package filter is the one grammar by which rows are picked, shared by the screens' "/" and the commands' --filter:
//
//	word             the row shows the word (upper and lower case are alike)
//	"two words"      the row shows exactly this text; inside "" the escapes of JSON work, inside '' nothing is special
//	field:value      the field holds the value somewhere;  field: alone: the field is not empty
//	field=value      the field is the value;  field!=value  it is not
//	field~text       the field matches the regular expression (RE2): state~^(failed|evicted)$
//	field>10m        the field is a larger age, size or number; also >=, <, <=
//	!term            the opposite of any of these
//
// Signs directly after a name are an operator; one that is not listed here is an error. Terms are separated by spaces and must all hold.
package filter
