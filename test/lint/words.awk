# Prints "folder path:line: word" for each word in prose that the house style replaces: in comments and string
# literals of C, in comments of scripts and YAML, in all of a page.

# prose_of_c(line): what stands in comments and literals; \001 is where a comment begins.
function prose_of_c(line,    out, n, i, c, two) {
	out = ""
	n = length(line)
	for (i = 1; i <= n; i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (in_comment) {
			if (two == "*/") {
				in_comment = 0
				i++
			} else {
				out = out c
			}
		} else if (in_string) {
			if (c == "\\")
				i++
			else if (c == "\"")
				in_string = 0
			out = out (c == "\"" || c == "\\" ? " " : c)
		} else if (two == "/*") {
			in_comment = 1
			out = out "\001"
			i++
		} else if (c == "\"") {
			in_string = 1
		} else if (c == "\047") {
			i += substr(line, i + 1, 1) == "\\" ? 3 : 2
		}
	}
	return out
}

# found(prose, pattern, name): one line for each place.
function found(prose, pattern, name) {
	while (match(prose, pattern)) {
		print folder " " FILENAME ":" FNR ": " name
		prose = substr(prose, RSTART + RLENGTH)
	}
}

FNR == 1 {
	in_comment = in_string = 0
	kind = FILENAME ~ /\.[ch]$/ ? "c" : FILENAME ~ /\.md$/ ? "page" : "script"
	was_comment = 0
	# Two folders deep, or the file at the top.
	n = split(FILENAME, part, "/")
	folder = (n > 2 ? part[1] "/" part[2] : part[1])
}
kind == "c" && !in_comment && !index($0, "/*") && !index($0, "\"") { next }
{
	if (kind == "c") {
		in_string = 0
		prose = prose_of_c($0)
	} else if (kind == "page") {
		prose = (FNR == 1 || before == "" ? "\001" : "") $0
		before = $0
	} else if ($0 ~ /^[ \t]*#+ /) {
		prose = $0
		sub(/^[ \t]*#+ /, was_comment ? "" : "\001", prose)
		was_comment = 1
	} else {
		was_comment = 0
		next
	}
	openings = prose
	sub(/^\001 *[^ ]*[a-z]\.[a-z]+( [^:]*)?: /, "\001", openings) # the path that a file opens with
	found(openings, "\001 *(What|Who|Whoever|Whose|what|who|whoever|whose) ", "a comment opens with what or who")
	found(prose, "[.:;] (What|Who|Whoever|Whose) ", "a sentence opens with what or who")
	prose = " " tolower(prose) " "
	gsub(/(tell|tells|told|telling)( [a-z]+)*( [a-z]+)? apart/, "", prose)
	found(prose, "[^a-z_](tell|tells|told|telling|untold)[^a-z_(]", "told, tell: report, record, notify")
	found(prose, "[^a-z_](nobody|somebody|whose|whom)[^a-z_(]", "a person word")
}
