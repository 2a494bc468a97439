# Every mutant that the operators below can make of the sources given: FILE, LINE, OPERATOR and the new text of
# the line, separated by tabs. Left out is what no test of behaviour can notice, but the sanitizers: calls that only
# free memory or take a lock, how much is allocated, which of two equal values is taken; and lines that only report
# (log_*, assert). "return 0;" becomes -1 and not 1 too: callers ask for failures, which are negative.

# A copy of line with the same length: comments are blank, and literals have no operators in them.
function mask(line,    out, n, i, c, two, quote) {
	out = ""
	n = length(line)
	quote = ""
	for (i = 1; i <= n; i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (in_comment || two == "/*") {
			if (in_comment && two == "*/" || !in_comment) {
				in_comment = !in_comment
				out = out " "
				i++
			}
			out = out " "
		} else if (quote != "" && c != quote) {
			out = out "_"
			if (c == "\\") {
				out = out "_"
				i++
			}
		} else {
			if (quote != "") {
				quote = ""
			} else if (c == "\"" || c == "'") {
				quote = c
			}
			out = out c
		}
	}
	return out
}

function emit(operator, text) {
	print FILENAME "\t" FNR "\t" operator "\t" text
}

# At position at, the length characters become to.
function replace(operator, at, len, to) {
	emit(operator, substr($0, 1, at - 1) to substr($0, at + len))
}

# The larger or smaller of two, a < b ? a : b, whichever of the two it takes when they are equal.
function is_choice(    side) {
	if (!match(code, /[A-Za-z0-9_.>-]+ [<>]=? [A-Za-z0-9_.>-]+ [?] [A-Za-z0-9_.>-]+ : [A-Za-z0-9_.>-]+;/)) {
		return 0
	}
	split(substr(code, RSTART, RLENGTH - 1), side, / [<>?:]=? /)
	return side[1] == side[3] && side[2] == side[4] || side[1] == side[4] && side[2] == side[3]
}

# A mutant for each place where from stands in the code.
function swap(from, to,    at, off) {
	off = 0
	while ((at = index(substr(code, off + 1), from)) > 0) {
		replace(trim(from) " -> " trim(to), off + at, length(from), to)
		off += at + length(from) - 2
	}
}

function both(a, b) {
	swap(a, b)
	swap(b, a)
}

function trim(text) {
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	return text
}

# The clauses on both sides of the operator at position at, as far as they are on this line.
function drop_clauses(at,    i, c, depth, n) {
	n = length(code)
	depth = 0
	for (i = at + 4; i <= n; i++) {
		c = substr(code, i, 1)
		if (depth == 0 && (c ~ /[])},;?]/ || substr(code, i, 3) ~ /^ (&&|[|][|])$/)) {
			break
		}
		depth += (c ~ /[[({]/) - (c ~ /[])}]/)
	}
	if (depth == 0) {
		replace("drop a clause", at, i - at, "")
	}
	depth = 0
	for (i = at - 1; i > 0; i--) {
		c = substr(code, i, 1)
		if (depth == 0 && (c ~ /[[({\t,?]/ || substr(code, i - 1, 3) ~ /^(&&|[|][|]| =) $/ ||
			substr(code, i - 6, 7) == "return ")) {
			break
		}
		depth += (c ~ /[])}]/) - (c ~ /[[({]/)
	}
	if (depth == 0) {
		i += substr(code, i + 1, 1) == " "
		replace("drop a clause", i + 1, at + 3 - i, "")
	}
}

function logic(    at, off, text) {
	off = 0
	while (match(substr(code, off + 1), / (&&|[|][|])( |$)/)) {
		at = off + RSTART
		text = substr(code, at + 1, 2)
		replace(text " -> " (text == "&&" ? "||" : "&&"), at + 1, 2, text == "&&" ? "||" : "&&")
		if (RLENGTH == 4) {
			drop_clauses(at)
		}
		off = at + 2
	}
}

function allocates() {
	return code ~ /(xmalloc|xmalloc_zero|xmalloc_array|arena_alloc|arena_zero|arena_create)\(/
}

function constants(    at, off, text) {
	if (code ~ /^\t+return 0;$/ || code ~ /\[[0-9]+\]( = .*)?[;{]?$/ || code ~ /\{ (NULL, )?0 \}/ || code ~ /[?] -1 : / || allocates()) {
		return
	}
	off = 0
	while (match(substr(code, off + 1), /(^|[^A-Za-z0-9_.])[0-9]+/)) {
		at = off + RSTART
		off = at + RLENGTH - 1
		while (substr(code, at, 1) !~ /[0-9]/) {
			at++
		}
		text = substr(code, at, off - at + 1)
		if (substr(code, off + 1, 1) !~ /[A-Za-z0-9_.]/ && length(text) < 9) {
			replace("off by one", at, length(text), text + 1)
			if (text > 0) {
				replace("off by one", at, length(text), text - 1)
			}
		}
	}
}

function conditions(    at, head) {
	if (match(code, /^\t+(\} else )?(if|while) \(/) && code ~ /\) \{$/) {
		at = RLENGTH
		head = substr($0, 1, at)
		emit("negate", head "!(" substr($0, at + 1, length($0) - at - 3) ")) {")
	}
	for (at = 1; at < length(code); at++) {
		if (substr(code, at, 2) ~ /^![A-Za-z_(]/) {
			replace("drop !", at, 1, "")
		}
	}
}

function returns(    value) {
	if (code !~ /^\t+return .+;$/) {
		return
	}
	value = trim(code)
	value = substr(value, 8, length(value) - 8)
	if (value ~ /^(true|false)$/) {
		return
	}
	# Errors are negative; what is positive mostly counts as success.
	emit("return a constant", indent (value == "0" ? "return -1;" : "return 0;"))
	if (value ~ /^-/) {
		emit("other sign", indent "return " substr(value, 2) ";")
	}
	if (value ~ /(_is_|_has_| == | != | < | > | <= | >= |&&|[|][|])/) {
		emit("negate", indent "return !(" substr(trim($0), 8, length(trim($0)) - 8) ");")
	}
}

function statements(    text) {
	text = trim(code)
	if (text ~ /^(break|continue);$/ && !after_return) {
		emit("delete", indent ";")
	}
	if (text ~ /^case .*:$/ || text ~ /^\{ .*\},$/ || text ~ /^[A-Z][A-Z0-9_]*\(.*\),$/ || text ~ /^\[.*\] = .*,$/) {
		emit("drop a case", indent)
	}
	if (!begins || text !~ /;$/ || text ~ /^(free|[a-z0-9_]+_(destroy|finish|unref|free|freep|cleanup|deinit)|pthread_mutex_lock)\(/) {
		return
	}
	if (text ~ /^[A-Za-z_][A-Za-z0-9_]*\(.*\);$/ || text ~ /^\(void\)[a-z0-9_]+\(/ ||
		text ~ /^[*(]*[A-Za-z_][^ ]* ([-+*\/|&^]|<<|>>)?= .*;$/ || text ~ /^[^ ]+(\+\+|--);$/) {
		emit("delete", indent ";")
	}
}

FNR == 1 {
	in_comment = reports = 0
	begins = 1
}
{
	code = mask($0)
	sub(/[ \t]+$/, "", code)
	match($0, /^\t*/)
	indent = substr($0, 1, RLENGTH)
}
code == "" || (code ~ /^#/ && code !~ /^#define [A-Z0-9_]+ \(?[0-9]/) { next }
begins && code ~ /^\t+(log_[a-z]+|assert|static_assert|_Static_assert)\(/ { reports = 1 }
{
	if (!reports) {
		if (!is_choice()) {
			both(" < ", " <= ")
			both(" > ", " >= ")
		}
		both(" == ", " != ")
		both(" += ", " -= ")
		if (!allocates()) {
			both(" + ", " - ")
			both(" * ", " / ")
		}
		both(" & ", " | ")
		both("true", "false")
		if (code !~ /for \(/) {
			both("++", "--")
		}
		logic()
		constants()
		conditions()
		returns()
		statements()
	}
	begins = code ~ /[;{}:]$/ || code !~ /^\t/
	after_return = code ~ /^\t+return .*;$/
	if (begins) {
		reports = 0
	}
}
