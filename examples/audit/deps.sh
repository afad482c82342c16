#!/bin/sh
# Shows: a task without an owner: whichever scanner is free first runs it. It lists what the repository's
# manifests depend on: Cargo, npm, Python, Go, Ruby, PHP, Maven, Gradle.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=repo.sh
. "$here/repo.sh"
enter_repository
inventory

set --
for name in Cargo.toml package.json 'requirements*.txt' 'requirements/*.txt' pyproject.toml go.mod Gemfile composer.json \
    pom.xml build.gradle build.gradle.kts; do
    set -- "$@" ":(top,glob)**/$name"
done
search -n -z -e '' -- "$@" ':(top,exclude,glob)**/node_modules/**' >"$work/raw"
flat <"$work/raw" | awk -v prefix="${tree:+$tree:}" -f "$here/../lib/json.awk" -f "$here/deps.awk" | sort -u >"$work/found"

# D: one dependency of one manifest. X: a lock file that is there. T: manifests that were read.
{
    cat "$work/found"
    awk -F'\t' '{
        path = substr($0, length($1) + 9); base = path; sub(/.*\//, "", base)
        if (base ~ /^(Cargo\.lock|package-lock\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|Gemfile\.lock|composer\.lock)$/)
            print "X\t" base "\t" path
    }' "$work/files" | sort
} >"$work/deps.tsv"
hand_over "$work/deps.tsv" "$(awk -F'\t' '
    $1 == "D" && !($2 FS $4 in seen) { seen[$2 FS $4] = 1; n++ } $1 == "T" { manifests++ }
    END { printf "%d %s in %d %s", n, (n == 1 ? "dependency" : "dependencies"), manifests, (manifests == 1 ? "manifest" : "manifests") }' "$work/deps.tsv")"
