# Awk functions for the audit: text of any origin made fit for a Markdown table, numbers made readable.

BEGIN { for (byte = 1; byte < 256; byte++) ord[sprintf("%c", byte)] = byte }

# How many bytes of a valid UTF-8 character begin at `i`; 0 where none does. Direction marks count as none.
function utf8(s, i,    a, b, n, k) {
    a = ord[substr(s, i, 1)]
    if (a < 128) return 1
    n = a >= 194 && a < 224 ? 2 : a >= 224 && a < 240 ? 3 : a >= 240 && a < 245 ? 4 : 0
    if (n == 0 || i + n - 1 > length(s)) return 0
    for (k = 1; k < n; k++) { b = ord[substr(s, i + k, 1)]; if (b < 128 || b > 191) return 0 }
    b = ord[substr(s, i + 1, 1)]
    if (a == 224 && b < 160 || a == 237 && b > 159 || a == 240 && b < 144 || a == 244 && b > 143) return 0
    if (a == 194 && b < 160) return 0
    k = ord[substr(s, i + 2, 1)]
    if (a == 226 && b == 128 && (k >= 170 && k <= 174 || k == 142 || k == 143 || k == 168 || k == 169)) return 0
    if (a == 226 && b == 129 && k >= 166 && k <= 169) return 0
    return n
}

# A flat name or line (see repo.sh) as visible, valid UTF-8.
function show(s,    out, i, n, c) {
    gsub(/\002/, "\t", s)
    if (s !~ /[^ -~]/) return s
    out = ""
    for (i = 1; i <= length(s); i += n) {
        n = utf8(s, i); c = substr(s, i, 1)
        if (n > 1) out = out substr(s, i, n)
        else if (n == 1 && c >= " " && c <= "~") out = out c
        else { n = 1; out = out (c == "\001" ? "\\n" : c == "\t" ? "\\t" : sprintf("\\x%02x", ord[c])) }
    }
    return out
}

# At most `limit` bytes, cut between characters.
function clip(s, limit) {
    if (length(s) <= limit) return s
    while (limit > 0 && ord[substr(s, limit + 1, 1)] >= 128 && ord[substr(s, limit + 1, 1)] < 192) limit--
    return substr(s, 1, limit) "…"
}

# Words in a table.
function cell(s,    out, c) {
    s = show(s); out = ""
    while (match(s, /[]|\\`*_<>&~[]/)) {
        c = substr(s, RSTART, 1)
        out = out substr(s, 1, RSTART - 1) (c == "<" ? "&lt;" : c == ">" ? "&gt;" : c == "&" ? "&amp;" : "\\" c)
        s = substr(s, RSTART + 1)
    }
    return out s
}

# A code span in a table: the fence is longer than any run of backticks inside.
function code(s,    fence, out, run, longest, rest) {
    s = show(s)
    if (s == "") return ""
    rest = s; longest = 0
    while (match(rest, /`+/)) { if (RLENGTH > longest) longest = RLENGTH; rest = substr(rest, RSTART + RLENGTH) }
    fence = "`"; for (run = 0; run < longest; run++) fence = fence "`"
    out = ""
    while ((run = index(s, "|")) > 0) { out = out substr(s, 1, run - 1) "\\|"; s = substr(s, run + 1) }
    s = out s
    if (longest > 0 || s ~ /^ .* $/) s = " " s " "
    return fence s fence
}

# 1234567 -> 1,234,567
function num(n,    s, out) {
    s = sprintf("%.0f", n); out = ""
    while (length(s) > 3) { out = "," substr(s, length(s) - 2) out; s = substr(s, 1, length(s) - 3) }
    return s out
}

function bytes(n) {
    if (n < 1024) return num(n) " B"
    if (n < 1048576) return sprintf("%.1f KiB", n / 1024)
    if (n < 1073741824) return sprintf("%.1f MiB", n / 1048576)
    return sprintf("%.1f GiB", n / 1073741824)
}

function percent(part, whole) { return whole > 0 ? sprintf("%.0f %%", 100 * part / whole) : "–" }

function plural(n, one, many) { return num(n) " " (n == 1 ? one : many) }
