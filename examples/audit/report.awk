# The report: reads the letters and the findings (see the scanners for their rows), prints Markdown.
FNR == 1 { source = base(FILENAME) }

function base(path) { sub(/.*\//, "", path); sub(/\.tsv$/, "", path); return path }

# What follows the first `n` fields: a name, which is always last.
function after(n,    s, i) { s = $0; for (i = 0; i < n; i++) s = substr(s, index(s, "\t") + 1); return s }

# A scan that found nothing handed over an empty file: it came all the same.
BEGIN { FS = "\t"; for (i = 1; i < ARGC; i++) came[base(ARGV[i])] = 1 }
source == "mail" { letters++; letter_from[letters] = $1; letter[letters] = $3; next }
source == "lines" && $1 == "L" {
    n_lang++; lang[n_lang] = $2; l_files[n_lang] = $3; l_lines[n_lang] = $4; l_blank[n_lang] = $5; l_comment[n_lang] = $6; l_bytes[n_lang] = $7
    files += $3; lines += $4; blanks += $5; comments += $6; next
}
source == "lines" && $1 == "P" { length_of[after(2)] = $2; next }
source == "lines" && $1 == "B" { binaries = $2; binary_bytes = $3; links = $4; next }
source == "markers" && $1 == "K" {
    n_kind++; k_group[n_kind] = $2; kind[n_kind] = $3; k_lang[n_kind] = $4; k_count[n_kind] = $5
    if ($2 == "note") notes += $5; else calls += $5
    if ($2 == "call" && $4 == "Rust" && ($3 == ".unwrap()" || $3 == ".expect" || $3 == "panic!")) rust_panics += $5
    next
}
source == "markers" && $1 == "F" {
    path = after(3); marks[path] = $2; note_marks[path] = $3
    if (n_dense < 20) { n_dense++; dense[n_dense] = path }
    next
}
source == "markers" && $1 == "M" {
    if ($2 == "note") { if (n_note < 100) { n_note++; note_row[n_note] = row_of() } }
    else if (n_call < 100) { n_call++; call_row[n_call] = row_of() }
    next
}
source == "history" && $1 == "N" {
    if ($2 == "has") has[$3] = 1
    else if ($2 == "submodule") submodule[++n_submodule] = after(2)
    else if ($2 == "unread") unread[++n_unread] = after(2)
    else fact[$2] = $2 ~ /^(name|path|head|branch)$/ ? after(2) : $3
    next
}
source == "history" && $1 == "S" { if (n_large < 100) { n_large++; large[n_large] = after(2); large_size[n_large] = $2 } next }
source == "history" && $1 == "C" {
    path = after(2); changes[path] = $2
    if (n_changed < 20) { n_changed++; changed[n_changed] = path }
    if ($2 > 1 && path in marks) { n_hot++; hot[n_hot] = path; heat[path] = $2 * marks[path] }
    next
}
source == "history" && $1 == "A" { n_author++; a_count[n_author] = $2; a_first[n_author] = $3; a_last[n_author] = $4; author[n_author] = after(4); read_commits += $2; next }
source == "history" && $1 == "M" { if (n_month < 24) { n_month++; month[n_month] = $2; m_count[n_month] = $3 } next }
source == "deps" && $1 == "D" {
    key = $2 "\t" $4
    if (!(key in uses)) { n_dep++; dep[n_dep] = key; eco_deps[$2]++ }
    if (!((key "\t" after(5)) in dep_seen)) { dep_seen[key "\t" after(5)] = 1; uses[key]++ }
    if (index("\t" kinds[key] "\t", "\t" $3 "\t") == 0) kinds[key] = kinds[key] (kinds[key] == "" ? "" : "\t") $3
    if ($5 != "" && $5 != "workspace" && index("\t" versions[key] "\t", "\t" $5 "\t") == 0) {
        versions[key] = versions[key] (versions[key] == "" ? "" : "\t") $5; n_version[key]++
    }
    if ($5 == "*" || $5 == "latest" || ($5 == "" && $2 == "Python")) loose[key] = 1
    if ($5 ~ /^git / || $5 ~ /^(git|github:|git\+)/) from_git[key] = 1
    next
}
source == "deps" && $1 == "T" { n_manifest++; eco_manifests[$2]++; next }
source == "deps" && $1 == "X" { n_lock++; next }
source == "closer" && $1 == "V" { closer[$2] = after(2); next }
source == "closer" && $1 == "G" { n_age++; age_line[n_age] = $2; age_when[n_age] = $3; age_who[n_age] = $4; age_text[n_age] = after(4); next }

function row_of(    path, text) {
    text = after(6); path = $6
    return "| " code($3) " | " code(path ":" $5) " | " code(clip(show(text), 140)) " |"
}

# An observation: the heavier, the earlier it stands in the summary.
function say(weight, text) { n_say++; said[n_say] = text; weighs[n_say] = weight }

function days(seconds) { return int(seconds / 86400) }

function table(head,    i, n, part, line) {
    n = split(head, part, " \\| "); line = "|"
    for (i = 1; i <= n; i++) { line = line (part[i] ~ /^>/ ? " ---: |" : " --- |"); sub(/^>/, "", part[i]) }
    printf "\n|"
    for (i = 1; i <= n; i++) printf " %s |", part[i]
    print "\n" line
}

function join(list, sep, most,    n, part, i, out) {
    n = split(list, part, "\t"); out = ""
    for (i = 1; i <= n && i <= most; i++) out = out (i > 1 ? sep : "") part[i]
    return out (n > most ? " …" : "")
}

# The first `most` of list[1..n] become the heaviest by weight[list[i]]: a partial selection sort.
function lift(list, weight, n, most,    i, j, best, kept) {
    for (i = 1; i <= most && i < n; i++) {
        best = i
        for (j = i + 1; j <= n; j++) if (weight[list[j]] > weight[list[best]] || weight[list[j]] == weight[list[best]] && list[j] < list[best]) best = j
        kept = list[i]; list[i] = list[best]; list[best] = kept
    }
}

function observe(    i, n, age, quiet, share, top, old, vast) {
    for (i = 1; i <= 5; i++) {
        n = i == 1 ? "lines" : i == 2 ? "markers" : i == 3 ? "history" : i == 4 ? "deps" : "mail"
        if (!(n in came)) say(1000, "**Incomplete**: nothing was found or handed over by the scan " code(n) ".")
    }
    if (fact["tracked"] == 0) { say(900, "The repository tracks no files" (fact["commits"] == 0 ? " and has no commits" : "") ": there is nothing to audit yet."); return }
    if (fact["commits"] == 0) say(800, "There are no commits yet; the files are those that git has staged.")
    if (fact["shallow"] == "true") say(700, "The clone is **shallow**: history, authors and change counts cover only what was fetched.")
    if (!("licence" in has)) say(300, "No licence file was found at the top of the repository.")
    if (!("tests" in has)) say(400, "No tests were recognised by name or folder.")
    if (!("ci" in has)) say(150, "No continuous-integration configuration was recognised.")
    if (!("readme" in has)) say(250, "There is no README at the top of the repository.")
    if (fact["dirty"] > 0) say(200, plural(fact["dirty"], "tracked file differs", "tracked files differ") " from the last commit: line counts are of the work tree, sizes of what is staged.")
    if (notes > 0) say(500 + (lines > 0 ? 100 * notes / lines : 0), "Authors left **" plural(notes, "note", "notes") "** to themselves (TODO, FIXME, XXX, HACK): " sprintf("%.1f", 1000 * notes / (lines > 0 ? lines : 1)) " in a thousand lines.")
    if (calls > 0) say(480, "**" plural(calls, "call", "calls") "** that can end a program or hide an error deserve a look" (rust_panics > 0 ? "; " num(rust_panics) " of them are `unwrap`, `expect` or `panic!` in Rust (tests included)" : "") ".")
    if (n_dense > 0) say(470, code(dense[1]) " has the most markers: " num(marks[dense[1]]) (closer["path"] != "" && n_age > 0 ? "; the oldest dated one is " num(days(fact["now"] - age_when[1])) " days old" : "") ".")
    if (n_hot > 0) { lift(hot, heat, n_hot, 15); say(490, "The hottest spot is " code(hot[1]) ": changed " num(changes[hot[1]]) " times and " plural(marks[hot[1]], "marker", "markers") " in it.") }
    if (n_author > 0 && read_commits >= 20) {
        share = a_count[1] / read_commits
        if (share > 0.8) say(350, "One author (" cell(author[1]) ") made " percent(a_count[1], read_commits) " of " num(read_commits) " commits: the project hangs on one person.")
    }
    if (fact["newest"] > 0) {
        quiet = days(fact["now"] - fact["newest"])
        if (quiet > 365) say(450, "The last commit is **" num(quiet) " days** old.")
        else if (quiet > 90) say(120, "The last commit is " num(quiet) " days old.")
    }
    for (i = 1; i <= n_large; i++) if (large_size[i] > 5242880) vast++
    if (vast > 0) say(320, (vast >= 100 ? "At least " : "") plural(vast, "file is", "files are") " larger than 5 MiB; the largest is " code(large[1]) " with " bytes(large_size[1]) ".")
    if (n_unread > 0) say(330, plural(n_unread, "file was", "files were") " too large to be searched; the first is " code(unread[1]) ".")
    n = 0; for (i in loose) n++
    if (n > 0) say(360, plural(n, "dependency names", "dependencies name") " no version or any version.")
    n = 0; for (i in from_git) n++
    if (n > 0) say(310, plural(n, "dependency comes", "dependencies come") " straight from a git repository.")
    n = 0; for (i in n_version) if (n_version[i] > 1) n++
    if (n > 0) say(220, plural(n, "dependency is", "dependencies are") " asked for in more than one version.")
    if (n_manifest > 0 && n_lock == 0 && n_dep > 0) say(240, "There are dependency manifests, and no lock file is tracked.")
    if (n_lang > 0) {
        i = 1; while (i < n_lang && lang[i] ~ /^(Lock file|JSON|CSV\/TSV|Text|Snapshot|Patch|Licence text|\(|\*)/) i++
        say(100, "The main language is **" cell(lang[i]) "**: " num(l_lines[i]) " of " num(lines) " lines (" percent(l_lines[i], lines) "). About " percent(comments, lines - blanks) " of the lines that are not blank are comments.")
    }
    if (n_submodule > 0) say(140, plural(n_submodule, "submodule was", "submodules were") " not looked into.")
}

function summary(    i, j, kept) {
    observe()
    for (i = 2; i <= n_say; i++)
        for (j = i; j > 1 && weighs[j] > weighs[j - 1]; j--) {
            kept = weighs[j]; weighs[j] = weighs[j - 1]; weighs[j - 1] = kept
            kept = said[j]; said[j] = said[j - 1]; said[j - 1] = kept
        }
    print "\n## Summary\n"
    for (i = 1; i <= n_say; i++) print i ". " said[i]
}

function facts() {
    print "# Audit of " cell(fact["name"] == "" ? "a repository" : fact["name"])
    table("what | value")
    print "| folder | " code(fact["path"]) " |"
    if (fact["head"] != "") print "| commit | " code(fact["head"]) " on " code(fact["branch"]) " |"
    print "| commits | " num(fact["commits"]) (n_author > 0 ? " by " plural(n_author, "author", "authors") (a_first[1] != "" && fact["newest"] > 0 ? ", over " plural(days(fact["newest"] - fact["oldest"]) + 1, "day", "days") : "") : "") " |"
    print "| tracked files | " num(fact["tracked"]) ", " bytes(fact["bytes"]) " |"
    print "| read as text | " num(files) " files, " num(lines) " lines |"
    print "| binary, links, submodules | " num(binaries) " (" bytes(binary_bytes) "), " num(links) ", " num(n_submodule) " |"
    print "| markers | " num(notes) " notes, " num(calls) " calls |"
    print "| dependencies | " num(n_dep) " in " plural(n_manifest, "manifest", "manifests") " |"
}

function languages(    i, other) {
    if (n_lang == 0) return
    print "\n## Lines by language"
    table("language | >files | >lines | >code | >comments | >blank | >share")
    for (i = 1; i <= n_lang; i++) {
        if (i > 25) { o_files += l_files[i]; o_lines += l_lines[i]; o_blank += l_blank[i]; o_comment += l_comment[i]; other++; continue }
        print "| " cell(lang[i]) " | " num(l_files[i]) " | " num(l_lines[i]) " | " num(l_lines[i] - l_blank[i] - l_comment[i]) " | " num(l_comment[i]) " | " num(l_blank[i]) " | " percent(l_lines[i], lines) " |"
    }
    if (other > 0) print "| " num(other) " others | " num(o_files) " | " num(o_lines) " | " num(o_lines - o_blank - o_comment) " | " num(o_comment) " | " num(o_blank) " | " percent(o_lines, lines) " |"
    print "| **all** | **" num(files) "** | **" num(lines) "** | **" num(lines - blanks - comments) "** | **" num(comments) "** | **" num(blanks) "** | |"
    print "\nComments are estimated by how a line begins: the inside of a block comment without a leading mark counts as code."
}

function marked(    i) {
    if (n_kind == 0) return
    print "\n## Markers"
    table("kind | what | language | >count")
    for (i = 1; i <= n_kind && i <= 40; i++) print "| " k_group[i] " | " code(kind[i]) " | " cell(k_lang[i]) " | " num(k_count[i]) " |"
    if (n_kind > 40) print "\n" num(n_kind - 40) " more kinds are left out."
    print "\n### Files with the most markers"
    table("file | >markers | >notes | >lines | >changes")
    for (i = 1; i <= n_dense; i++) print "| " code(dense[i]) " | " num(marks[dense[i]]) " | " num(note_marks[dense[i]]) " | " num(length_of[dense[i]]) " | " num(changes[dense[i]]) " |"
    if (n_note > 0) {
        print "\n### Notes: " (notes > n_note ? "the first " n_note " of " num(notes) : num(notes))
        table("what | where | line")
        for (i = 1; i <= n_note; i++) print note_row[i]
    }
    if (n_call > 0) {
        print "\n### Calls worth a look: " (calls > n_call ? "the first " n_call " of " num(calls) : num(calls))
        table("what | where | line")
        for (i = 1; i <= n_call; i++) print call_row[i]
    }
}

function closely(    i) {
    if (closer["path"] == "") return
    print "\n## A closer look at " code(closer["path"])
    table("what | value")
    if (closer["lines"] != "") print "| lines | " num(closer["lines"]) " |"
    print "| markers | " num(marks[closer["path"]]) " |"
    if (closer["commits"] > 0) {
        print "| commits that touched it | " num(closer["commits"]) ", from " closer["first"] " to " closer["last"] " |"
        print "| people | " num(closer["people"]) "; most of it by " cell(closer["main"]) " (" percent(closer["share"], closer["commits"]) ") |"
    }
    if (n_age == 0) return
    print "\nIts markers, oldest first:"
    table(">age in days | >line | by | text")
    for (i = 1; i <= n_age; i++)
        print "| " num(days(fact["now"] - age_when[i])) " | " age_line[i] " | " cell(age_who[i]) " | " code(clip(show(trim(age_text[i])), 140)) " |"
}

function trim(s) { sub(/^[ \002]+/, "", s); return s }

function past(    i) {
    if (n_hot > 0) {
        print "\n## Hot spots\n\nFiles that change often and carry markers, by changes times markers."
        table("file | >changes | >markers | >lines")
        for (i = 1; i <= n_hot && i <= 15; i++) print "| " code(hot[i]) " | " num(changes[hot[i]]) " | " num(marks[hot[i]]) " | " num(length_of[hot[i]]) " |"
    }
    if (n_large > 0) {
        print "\n## Largest files"
        table("file | >size | >lines")
        for (i = 1; i <= n_large && i <= 20; i++) print "| " code(large[i]) " | " bytes(large_size[i]) " | " (large[i] in length_of ? num(length_of[large[i]]) : "–") " |"
    }
    if (n_changed > 0) {
        print "\n## Most changed files" (fact["commits"] > fact["limit"] ? "\n\nOver the last " num(fact["limit"]) " of " num(fact["commits"]) " commits." : "")
        table("file | >commits | >lines")
        for (i = 1; i <= n_changed; i++) print "| " code(changed[i]) " | " num(changes[changed[i]]) " | " num(length_of[changed[i]]) " |"
    }
    if (n_author > 0) {
        print "\n## Authors"
        table("author | >commits | >share | first | last")
        for (i = 1; i <= n_author && i <= 15; i++) print "| " cell(clip(show(author[i]), 60)) " | " num(a_count[i]) " | " percent(a_count[i], read_commits) " | " a_first[i] " | " a_last[i] " |"
        if (n_author > 15) print "\n" num(n_author - 15) " more authors are left out."
        print "\n## Activity"
        table("month | >commits | ")
        for (i = 1; i <= n_month; i++) if (m_count[i] > m_most) m_most = m_count[i]
        for (i = 1; i <= n_month; i++) print "| " month[i] " | " num(m_count[i]) " | " bar(m_count[i], m_most) " |"
    }
}

function bar(n, most,    out, i) { out = ""; for (i = 0; i < 30 * n / most; i++) out = out "▪"; return out }

function dependencies(    i, part, key, shown) {
    if (n_dep == 0) return
    print "\n## Dependencies"
    table("ecosystem | >dependencies | >manifests")
    for (i = 1; i <= n_dep; i++) { split(dep[i], part, "\t"); if (!(part[1] in shown)) { shown[part[1]] = 1; print "| " part[1] " | " num(eco_deps[part[1]]) " | " num(eco_manifests[part[1]]) " |" } }
    lift(dep, uses, n_dep, 80)
    print "\n### " (n_dep > 80 ? "The 80 most used of " num(n_dep) : "All " num(n_dep))
    table("dependency | ecosystem | versions asked for | kind | >manifests")
    for (i = 1; i <= n_dep && i <= 80; i++) {
        split(dep[i], part, "\t"); key = dep[i]
        print "| " code(part[2]) " | " part[1] " | " (versions[key] == "" ? "–" : code(clip(show(join(versions[key], ", ", 4)), 90))) " | " cell(join(kinds[key], ", ", 4)) " | " num(uses[key]) " |"
    }
}

function colophon(    i) {
    if (n_submodule > 0) {
        print "\n## Submodules\n"
        for (i = 1; i <= n_submodule && i <= 50; i++) print "- " code(submodule[i])
    }
    print "\n## Who found what"
    table("member | says")
    for (i = 1; i <= letters; i++) print "| " cell(letter_from[i]) " | " cell(letter[i]) " |"
}

END {
    facts(); summary(); languages(); marked(); closely(); past(); dependencies(); colophon()
}
