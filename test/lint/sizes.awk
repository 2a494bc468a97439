# Relies on the format: a function's braces stand alone in the first column.
BEGIN {
	while ((getline line < waived) > 0) {
		split(line, words, /[ \t]+/)
		waiver[words[1] " " words[2] " " words[3]] = 1
	}
}

function report(name, kind, text) {
	if ((FILENAME " " name " " kind) in waiver) {
		used[FILENAME " " name " " kind] = 1
		return
	}
	print FILENAME ":" start ": " name ": " text
}

# Parameters of the first parenthesised list of the signature.
function count_params(sig,    i, c, depth, n) {
	sub(/__attribute__\(\(.*\)\) */, "", sig)
	gsub(/(PRINTF_LIKE|CLEANUP)\([^)]*\)/, "", sig)
	if (sig ~ /\((void)?\)/)
		return 0
	n = 1
	for (i = index(sig, "("); i <= length(sig); i++) {
		c = substr(sig, i, 1)
		if (c == "(")
			depth++
		else if (c == ")" && --depth == 0)
			break
		else if (c == "," && depth == 1)
			n++
	}
	return n
}

function begin_function(    name) {
	name = signature
	gsub(/(PRINTF_LIKE|CLEANUP)\([^)]*\)/, "", name)
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	fn = name
	start = FNR
	depth = deepest = top = 0
	params = count_params(signature)
}

function end_function(    lines) {
	lines = FNR - start - 1
	if (lines > 80)
		print FILENAME ":" start ": " fn ": " lines " lines, never more than 80"
	else if (lines > 60)
		report(fn, "lines", lines " lines, at most 60")
	if (deepest > 4)
		report(fn, "nesting", deepest " levels, at most 4")
	if (params > 6)
		report(fn, "params", params " parameters, at most 6")
	fn = ""
}

# A block brace follows ") ", "else", "do" or stands alone; others belong to initialisers.
function count_braces(    i, c, before) {
	for (i = 1; i <= length(CODE); i++) {
		c = substr(CODE, i, 1)
		if (c == "{") {
			before = substr(CODE, 1, i - 1)
			kind[++top] = before ~ /(\) |else |do |^[ \t]*)$/ && kind[top - 1] != "i" ? "b" : "i"
			if (kind[top] == "b" && ++depth > deepest)
				deepest = depth
		} else if (c == "}" && top > 0) {
			if (kind[top] == "b")
				depth--
			top--
		}
	}
}

FNR == 1 {
	IN_COMMENT = 0
	fn = signature = ""
}

{
	strip($0)
	if (FNR == 901)
		print FILENAME ":1: more than 900 lines"
	if (fn != "" && CODE == "}")
		end_function()
	else if (fn != "")
		count_braces()
	else if (CODE == "{" && signature != "")
		begin_function()
	else if (CODE ~ /^[A-Za-z_]/ && CODE !~ /[;{=:]$/)
		signature = CODE
	else if (CODE ~ /^[ \t]/ && signature != "" && CODE !~ /;$/)
		signature = signature " " CODE
	else
		signature = ""
}

END {
	for (row in waiver)
		if (!(row in used))
			print "test/lint/sizes.waiver:1: not needed any more: " row
}
