# A small reader of JSON, fed line by line; json_reset() begins a document. Calls json_value(path, value) for every scalar, where
# the path is like `.dependencies.serde` or `.2.owner`. Strings keep their escapes, save \" \\ and \/.
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
            if (token ~ /^"/) {
                token = substr(token, 2, length(token) - 2)
                gsub(/\\"/, "\"", token); gsub(/\\\//, "/", token); gsub(/\\\\/, "\\", token)
            }
            if (json_wants == "key") json_key[json_depth] = token
            else if (json_wants == "value") { json_value(json_at(), token); json_wants = "" }
        }
    }
}

function json_at() { return json_depth == 0 ? "" : json_path[json_depth] "." json_key[json_depth] }
