#!/bin/sh
# The dialects of preemption gates (KEP-8303, its draft, Kueue's own) are spelled in one place: the types of
# the condition and the two fields of an entry. Everything else asks common/api/kueue/preemption_gate.h.
. "$(dirname "$0")/lib.sh"

for file in $(sources '*.c' '*.h' | grep -v '^test/'); do
	case $file in
	common/api/kueue/preemption_gate.[ch]) continue ;;
	esac
	awk -v file="$file" '
		/"(BlockedOnPreemptionGates|PreemptionBlocked|QuotaReservationBlocked)"/ {
			print file ":" FNR ": a type of the condition that preemption_gate.h gives"
		}
		/preemptionGates[^,;]*[."](position|state)/ {
			print file ":" FNR ": a field of a preemption gate that preemption_gate.h reads and writes"
		}
		# Variables of the type, then their members.
		match($0, /struct api_preemption_gate_state \**[a-z_0-9]+/) && !/F_STR/ {
			name = substr($0, RSTART, RLENGTH)
			sub(/.*[ *]/, "", name)
			names[name] = 1
		}
		{
			for (name in names)
				if ($0 ~ "(^|[^a-z_0-9>.])" name "(->|[.])(position|state)([^a-z_0-9]|$)")
					print file ":" FNR ": a field of a preemption gate that preemption_gate.h reads and writes"
		}
		/gates?(\.v\[[^]]*\])?(->|\.)(position|state)([^a-z_0-9]|$)/ {
			print file ":" FNR ": a field of a preemption gate that preemption_gate.h reads and writes"
		}' "$file"
done | sort -u >"$FOUND"
finish
