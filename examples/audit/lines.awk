# Joins the counts of lines.sh. Input: three flat outputs of `git grep -c -z`, then the inventory.
# `git grep -c -z` writes name NUL count LF; flat, that is: name / count \001 next name / count \001 …
FNR == 1 { part = FILENAME; sub(/.*\//, "", part); pending = ""; fresh = 1 }

part != "files" {
    if (fresh) { pending = $0; fresh = 0; next }
    at = index($0, "\001"); count = substr($0, 1, at - 1) + 0
    if (prefix != "" && index(pending, prefix) == 1) pending = substr(pending, length(prefix) + 1)
    if (part == "all.flat") total[pending] = count
    else if (part == "filled.flat") filled[pending] = count
    else comment[pending] = count
    pending = substr($0, at + 1)
    next
}

{
    size = $0; sub(/\t.*/, "", size)
    rest = substr($0, length(size) + 2); mode = substr(rest, 1, 6); path = substr(rest, 8)
    if (mode == "160000") { submodules++; next }
    if (mode == "120000") { links++; next }
    if (!(path in total) && size > 0) { binaries++; binary_bytes += size; next }
    name = language(path)
    files[name]++; lines[name] += total[path]; blanks[name] += total[path] - filled[path]; comments[name] += comment[path]; size_of[name] += size
    if (total[path] > 0) print "P\t" total[path] "\t" path
}

END {
    for (name in files)
        print "L\t" name "\t" files[name] "\t" lines[name] + 0 "\t" blanks[name] + 0 "\t" comments[name] + 0 "\t" sprintf("%.0f", size_of[name])
    print "B\t" binaries + 0 "\t" sprintf("%.0f", binary_bytes) "\t" links + 0 "\t" submodules + 0
}
