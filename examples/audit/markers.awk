# Reads the flat output of `git grep -n -z` and names what was found: group, kind, language, line, name, text.
# The flat stream: name / LINE separator text \001 next name / …; a NUL late in a file breaks its text in two.
BEGIN {
    while ((getline word < words) > 0) if (word != "") word_list[++word_count] = word
    close(words)
}

NR == 1 { name = $0; number = ""; next }

# `git grep -z -n` ends the number with NUL (newer) or a colon: NUL has become the end of the line.
number == "" && /^[0-9]+$/ { number = $0; text = ""; next }
number == "" {
    number = $0; sub(/[:=-].*/, "", number)
    text = ""; $0 = substr($0, length(number) + 2)
}

{
    at = index($0, "\001")
    if (at == 0) { text = text " " $0; next }
    text = text substr($0, 1, at - 1)
    found()
    name = substr($0, at + 1); number = ""
}

function found(    i, where, best, kind, path) {
    path = name
    if (prefix != "" && index(path, prefix) == 1) path = substr(path, length(prefix) + 1)
    best = 0
    for (i = 1; i <= word_count; i++) {
        where = index(text, word_list[i])
        if (where > 0 && (best == 0 || where < best)) { best = where; kind = word_list[i] }
    }
    if (best == 0) return
    # A line of a minified file is long: keep what stands around the word.
    if (length(text) > 400) text = substr(text, best > 100 ? best - 100 : 1, 300)
    sub(/^[ \002]+/, "", text); sub(/[ \002\r]+$/, "", text); sub(/[ (<{;]+$/, "", kind)
    print group "\t" kind "\t" language(path) "\t" number "\t" path "\t" text
}
