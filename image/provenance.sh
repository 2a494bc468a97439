#!/bin/sh
# image/provenance.sh VERSION DIGEST: prints an in-toto statement with SLSA v1 provenance of the
# image with this manifest digest (SHA-256): the commit, the compiler, the C library's headers. It is
# a claim of the builder; BUILDER_ID (a URI) says which builder that is.
set -eu
version=$1
digest=$2
builder=${BUILDER_ID:-https://headgate.io/builders/local}

commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
modified=false
[ -z "$(git status --porcelain 2>/dev/null)" ] || modified=true
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
compiler=$("${CC:-gcc}" -dumpfullversion)
libc=$(dpkg-query -W -f '${Version}' libc6-dev 2>/dev/null || echo unknown)

cat <<EOT
{
  "_type": "https://in-toto.io/Statement/v1",
  "subject": [{"name": "headgate:$version", "digest": {"sha256": "$digest"}}],
  "predicateType": "https://slsa.dev/provenance/v1",
  "predicate": {
    "buildDefinition": {
      "buildType": "https://headgate.io/build/image/v1",
      "externalParameters": {"target": "image", "sourceModified": $modified},
      "internalParameters": {"SOURCE_DATE_EPOCH": "$epoch"},
      "resolvedDependencies": [
        {"name": "source", "digest": {"gitCommit": "$commit"}},
        {"name": "gcc", "annotations": {"version": "$compiler"}},
        {"name": "libc6-dev", "annotations": {"version": "$libc"}}]
    },
    "runDetails": {"builder": {"id": "$builder"}}
  }
}
EOT
