# Blanks comments and the contents of string and character literals; sets CODE for each line.
# State across lines: IN_COMMENT. Call strip($0) once per line; reset IN_COMMENT at FNR == 1.
function strip(line,    out, n, i, c, two, quote) {
	out = ""
	n = length(line)
	quote = ""
	for (i = 1; i <= n; i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (IN_COMMENT) {
			if (two == "*/") {
				IN_COMMENT = 0
				i++
			}
			continue
		}
		if (quote != "") {
			if (c == "\\")
				i++
			else if (c == quote) {
				quote = ""
				out = out c
			}
			continue
		}
		if (two == "/*") {
			IN_COMMENT = 1
			i++
			continue
		}
		if (two == "//")
			break
		if (c == "\"" || c == "'")
			quote = c
		out = out c
	}
	sub(/[ \t]+$/, "", out)
	CODE = out
	return out
}
