#!/bin/sh
# image/sbom.sh ROOT VERSION CREATED PACKAGE...: an SPDX 2.3 document in JSON, on standard output, of the
# programs in ROOT/usr/bin and the installed Debian packages that the other files in ROOT come from. The
# same input gives the same bytes: its namespace is a digest of what it lists.
set -eu
root=$1
version=$2
created=$3
shift 3

# shellcheck source=/dev/null
. /etc/os-release
distribution=${ID:-debian}-${VERSION_ID:-0}
unknown='"licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"'

# json FORMAT WORD...: as printf, with the words escaped for JSON strings.
json() {
	format=$1
	shift
	for word; do
		shift
		set -- "$@" "$(printf '%s' "$word" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"
	done
	# shellcheck disable=SC2059
	printf "$format" "$@"
}

sum() {
	"$1" "$2" | cut -d ' ' -f 1
}

files() {
	comma=
	for program in "$root"/usr/bin/*; do
		name=$(basename "$program")
		printf '%s' "$comma"
		json '\n    {"SPDXID": "SPDXRef-File-%s", "fileName": "./usr/bin/%s", "fileTypes": ["BINARY"],' "$name" "$name"
		json '\n     "checksums": [{"algorithm": "SHA1", "checksumValue": "%s"},' "$(sum sha1sum "$program")"
		json '\n       {"algorithm": "SHA256", "checksumValue": "%s"}], %%s}' "$(sum sha256sum "$program")" |
			sed "s|%s|$unknown|"
		comma=,
	done
}

# spdx_id PACKAGE: only letters, digits, dots and dashes may be in an identifier.
spdx_id() {
	printf 'SPDXRef-Package-%s' "$1" | sed 's/[^A-Za-z0-9.-]/-/g'
}

packages() {
	for package; do
		dpkg-query -W -f '${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n' "$package"
	done | while IFS='	' read -r name ver arch source source_ver; do
		json ',\n    {"SPDXID": "%s", "name": "%s", "versionInfo": "%s",' "$(spdx_id "$name")" "$name" "$ver"
		json '\n     "supplier": "Organization: %s", "downloadLocation": "NOASSERTION", "filesAnalyzed": false,' "${NAME:-Debian}"
		printf '\n     "licenseDeclared": "NOASSERTION", %s,' "$unknown"
		json '\n     "sourceInfo": "built package of Debian source %s %s", "primaryPackagePurpose": "LIBRARY",' "$source" "$source_ver"
		json '\n     "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",'
		json '\n       "referenceLocator": "pkg:deb/%s/%s@%s?arch=%s&distro=%s"}]}' "${ID:-debian}" "$name" \
			"$(printf '%s' "$ver" | sed 's/+/%2B/g; s/~/%7E/g; s/:/%3A/g')" "$arch" "$distribution"
	done
}

relationships() {
	json '\n    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-Package-headgate"}'
	for program in "$root"/usr/bin/*; do
		json ',\n    {"spdxElementId": "SPDXRef-Package-headgate", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-File-%s"}' \
			"$(basename "$program")"
	done
	for package; do
		json ',\n    {"spdxElementId": "SPDXRef-Package-headgate", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "%s"}' \
			"$(spdx_id "${package%%:*}")"
	done
}

# The digest of the digests of a package's files, as SPDX 2.3 defines it in 7.9.
verification_code() {
	sha1sum "$root"/usr/bin/* | cut -d ' ' -f 1 | LC_ALL=C sort | tr -d '\n' | sha1sum | cut -d ' ' -f 1
}

body=$(
	printf '  "packages": [\n    {"SPDXID": "SPDXRef-Package-headgate", "name": "headgate", "versionInfo": "%s",' "$version"
	printf '\n     "packageVerificationCode": {"packageVerificationCodeValue": "%s"},' "$(verification_code)"
	printf '\n     "downloadLocation": "NOASSERTION", "filesAnalyzed": true, "licenseDeclared": "Apache-2.0", %s,' "$unknown"
	printf '\n     "primaryPackagePurpose": "APPLICATION"}'
	packages "$@"
	printf '],\n  "files": ['
	files
	printf '],\n  "relationships": ['
	relationships "$@"
	printf ']\n}\n'
)
digest=$(printf '%s' "$body" | sha256sum | cut -d ' ' -f 1)
cat <<EOT
{
  "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
  "name": "headgate-$version",
  "documentNamespace": "https://headgate.io/spdx/headgate-$version-$digest",
  "creationInfo": {"created": "$created", "creators": ["Tool: headgate-image-sbom"]},
$body
EOT
