BEGIN {
	say("strcpy strcat strncpy strncat stpcpy sprintf vsprintf gets", "use strbuf or snprintf")
	say("strtok strtok_r strsep", "use str_next")
	say("atoi atol atoll atof strtol strtoul strtoll strtoull", "use str_to_*")
	say("gmtime gmtime_r localtime localtime_r ctime ctime_r asctime mktime timegm strftime strptime", "use clock_*")
	say("rand rand_r srand random srandom drand48", "use rng")
	say("malloc calloc realloc reallocarray strdup strndup asprintf vasprintf alloca", "use xmalloc_* or arena_*")
	say("system popen", "start programs by posix_spawn with an argument vector")
	say("pthread_cancel setjmp longjmp", "leave by flag and return")
	split("sleep usleep nanosleep clock_nanosleep", slow, " ")
	for (i in slow)
		sleepy[slow[i]] = 1
}

function say(names, text,    i, n, words) {
	n = split(names, words, " ")
	for (i = 1; i <= n; i++)
		why[words[i]] = text
}

function check_calls(    rest, name) {
	rest = CODE
	while (match(rest, /[A-Za-z_][A-Za-z0-9_]*[ ]*\(/)) {
		name = substr(rest, RSTART, RLENGTH - 1)
		sub(/ +$/, "", name)
		# Members of ops structs may have any name.
		if (substr(rest, 1, RSTART - 1) !~ /(\.|->)$/)
			check_name(name)
		rest = substr(rest, RSTART + RLENGTH)
	}
}

function check_name(name) {
	if (name in why && !(FILENAME == "common/base/xmalloc.c") &&
	    !(name ~ /^(gmtime_r|timegm|strftime)$/ && FILENAME == "common/base/clock.c"))
		print FILENAME ":" FNR ": " name ": " why[name]
	if (name in sleepy && FILENAME ~ /^test\//)
		print FILENAME ":" FNR ": " name ": tests do not sleep, they use the fake clock or wait for an event"
}

# poll without descriptors is a sleep by another name.
function check_pause() {
	if (CODE ~ /(^|[^A-Za-z0-9_])poll\(NULL/ && FILENAME ~ /^test\// && FILENAME != "test/lib/wait.c")
		print FILENAME ":" FNR ": poll: tests pause by wait_until only"
}

FNR == 1 {
	IN_COMMENT = 0
}

{
	strip($0)
	if (CODE ~ /\(/) {
		check_calls()
		check_pause()
	}
	if (CODE ~ /^#[ ]*if[ ]+0/)
		print FILENAME ":" FNR ": disabled code"
	if ($0 ~ /(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)/)
		print FILENAME ":" FNR ": unfinished work: do it, or leave it out and say so in the docs"
}
