# A small reader of JSON, fed line by line; json_reset() begins a document. It calls json_value(path, value) for
# every scalar, where the path is like `.dependencies.serde` or `.2.owner`. A string comes as it is written,
# without its quotes: json_text() makes text of it.
function json_reset() { json_depth = 0; json_key[0] = ""; json_kind[0] = ""; json_wants = "value" }

function json_line(text,    token) {
    while (match(text, /"([^"\\]|\\.)*"|[][{}:,]|[^][{}:," \t\r]+/)) {
        token = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
        if (token == "{" || token == "[") {
            json_path[json_depth + 1] = json_at(); json_depth++
            json_kind[json_depth] = token; json_key[json_depth] = token == "[" ? 0 : ""
            json_wants = token == "[" ? "value" : "key"
        } else if (token == "}" || token == "]") { if (json_depth > 0) json_depth--; json_wants = "" }
        else if (token == ",") {
            if (json_kind[json_depth] == "[") { json_key[json_depth]++; json_wants = "value" } else json_wants = "key"
        } else if (token == ":") json_wants = "value"
        else {
            if (token ~ /^"/) token = substr(token, 2, length(token) - 2)
            if (json_wants == "key") json_key[json_depth] = token
            else if (json_wants == "value") { json_value(json_at(), token); json_wants = "" }
        }
    }
}

function json_at() { return json_depth == 0 ? "" : json_path[json_depth] "." json_key[json_depth] }

# The text that a JSON string means. `one_line`: control characters stay as they are written.
function json_text(s, one_line,    out, at, c, code, low) {
    out = ""
    while ((at = index(s, "\\")) > 0) {
        out = out substr(s, 1, at - 1); c = substr(s, at + 1, 1); s = substr(s, at + 2)
        if (c == "u") {
            code = json_hex(substr(s, 1, 4)); s = substr(s, 5)
            if (code >= 55296 && code < 56320 && substr(s, 1, 2) == "\\u") {
                low = json_hex(substr(s, 3, 4)); s = substr(s, 7); code = 65536 + (code - 55296) * 1024 + low - 56320
            }
            out = out (code >= 32 ? json_utf8(code) : one_line || code == 0 ? sprintf("\\u%04x", code) : sprintf("%c", code))
        }
        else if (index("nrtbf", c) == 0) out = out c
        else if (one_line) out = out "\\" c
        else out = out (c == "n" ? "\n" : c == "r" ? "\r" : c == "t" ? "\t" : c == "b" ? "\b" : "\f")
    }
    return out s
}

function json_hex(s,    i, n) { n = 0; for (i = 1; i <= 4; i++) n = n * 16 + index("123456789abcdef", tolower(substr(s, i, 1))); return n }

function json_utf8(n) {
    if (n < 128) return sprintf("%c", n)
    if (n < 2048) return sprintf("%c%c", 192 + int(n / 64), 128 + n % 64)
    if (n < 65536) return sprintf("%c%c%c", 224 + int(n / 4096), 128 + int(n / 64) % 64, 128 + n % 64)
    return sprintf("%c%c%c%c", 240 + int(n / 262144), 128 + int(n / 4096) % 64, 128 + int(n / 64) % 64, 128 + n % 64)
}
