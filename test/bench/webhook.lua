-- wrk script: POSTs the review in $REVIEW, counts what is not a 200.
local file = assert(io.open(os.getenv("REVIEW"), "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
file:close()

function done(summary, latency, requests)
	local s = summary
	io.write(string.format("RESULT %.0f %.3f %.3f %d\n", s.requests / (s.duration / 1e6),
		latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
		s.errors.status + s.errors.connect + s.errors.read + s.errors.write + s.errors.timeout))
end
