#!/bin/sh
# Shows: a task that looks at what git knows: the largest files, the most changed ones, who worked and when.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR source=repo.sh
. "$here/repo.sh"
enter_repository
inventory

# A long history is read this far back (commits).
most=${AUDIT_COMMITS:-20000}
git_log() {
    git -c log.showSignature=false -c log.follow=false log --no-color --no-decorate -n "$most" "$@"
}

: >"$work/commits"
: >"$work/raw"
if [ "$has_commits" = yes ]; then
    git_log --date=short --format='%at%x09%ad%x09%aN' >"$work/commits"
    git_log --no-renames --name-only -z --format= >"$work/raw"
fi

# N: facts. S: largest files. C: most changed of those that are still there. A: authors. M: months.
{
    printf 'N\tname\t%s\n' "$(basename -- "$(pwd)" | flat | tr -d '\001')"
    printf 'N\tpath\t%s\n' "$(pwd | flat | tr -d '\001')"
    printf 'N\tnow\t%s\n' "$(date +%s)"
    printf 'N\ttracked\t%s\n' "$(wc -l <"$work/files" | tr -d ' ')"
    printf 'N\tbytes\t%s\n' "$(awk -F'\t' '{ sum += $1 } END { printf "%.0f", sum }' "$work/files")"
    printf 'N\tlimit\t%s\n' "$most"
    printf 'N\tshallow\t%s\n' "$(git rev-parse --is-shallow-repository)"
    if [ -z "$tree" ]; then
        printf 'N\tdirty\t%s\n' "$(git status --porcelain --untracked-files=no --ignore-submodules=all | wc -l | tr -d ' ')"
    fi
    if [ "$has_commits" = yes ]; then
        # `--`: a file may be called HEAD.
        printf 'N\thead\t%s\n' "$(git rev-parse --verify --short=12 HEAD)"
        printf 'N\tbranch\t%s\n' "$(git symbolic-ref --quiet --short HEAD || echo '(detached)')"
        printf 'N\tcommits\t%s\n' "$(git rev-list --count HEAD --)"
    else
        printf 'N\tcommits\t0\n'
    fi
    while IFS= read -r name; do printf 'N\tunread\t%s\n' "$name"; done <"$work/too-large"
    awk -F'\t' '$2 == "160000" { print "N\tsubmodule\t" substr($0, index($0, "160000") + 7) }' "$work/files"
    # Names a repository is expected to have, at its top or in its usual places.
    awk -F'\t' '{
        name = tolower(substr($0, length($1) + 9)); top = name !~ /\//
        if (top && name ~ /^readme/) print "N\thas\treadme"
        if (top && name ~ /^(licen[cs]e|copying|unlicense)/ || name ~ /^licenses\//) print "N\thas\tlicence"
        if (name ~ /(^|\/)(tests?|__tests__)\// || name ~ /^specs?\// || name ~ /(^|[._\/-])(test|spec)[._-]/ || name ~ /_test\.[a-z]+$/) print "N\thas\ttests"
        if (name ~ /^(\.github\/workflows\/|\.gitlab-ci|\.circleci\/|\.ci\/|\.travis|jenkinsfile|azure-pipelines|\.woodpecker|\.buildkite)/) print "N\thas\tci"
    }' "$work/files" | sort -u
    awk '$2 != "160000" && $2 != "120000"' "$work/files" | sort -t "$tab" -k1,1nr -k3 | sed 100q |
        awk -F'\t' '{ print "S\t" $1 "\t" substr($0, length($1) + 9) }'
    flat <"$work/raw" | awk -v files="$work/files" '
        BEGIN { while ((getline line < files) > 0) { sub(/^[0-9]*\t[0-9]*\t/, "", line); here[line] = 1 } }
        { sub(/^\001+/, "") } $0 in here { changes[$0]++ }
        END { for (path in changes) print "C\t" changes[path] "\t" path }' |
        sort -t "$tab" -k2,2nr -k3 | sed 2000q
    awk -F'\t' '{
        who = $3; for (i = 4; i <= NF; i++) who = who " " $i
        gsub(/[\001\002]/, "?", who)
        n[who]++; if (!(who in last)) last[who] = $2; first[who] = $2
    } END { for (who in n) print "A\t" n[who] "\t" first[who] "\t" last[who] "\t" who }' "$work/commits" |
        sort -t "$tab" -k2,2nr -k5
    awk -F'\t' '{ n[substr($2, 1, 7)]++ } END { for (m in n) print "M\t" m "\t" n[m] }' "$work/commits" | sort -r
    sed -n '1s/^\([0-9]*\).*/N	newest	\1/p' "$work/commits"
    sed -n '$s/^\([0-9]*\).*/N	oldest	\1/p' "$work/commits"
} >"$work/history.tsv"
hand_over "$work/history.tsv" "$(awk -F'\t' '
    $1 == "N" { fact[$2] = $3 } $1 == "A" { authors++ }
    END { printf "%d tracked %s, %d %s by %d %s", fact["tracked"], (fact["tracked"] == 1 ? "file" : "files"),
        fact["commits"], (fact["commits"] == 1 ? "commit" : "commits"), authors, (authors == 1 ? "person" : "people") }' "$work/history.tsv")"
