# Reads manifests out of the flat stream of `git grep -n -z -e ''` (as markers.awk does) and prints
# D ecosystem kind dependency version manifest. Line by line, without a full parser of each language:
# what a manifest of the usual shape says is found.
NR == 1 { begin($0); number = ""; next }
number == "" && /^[0-9]+$/ { number = $0; text = ""; next }
number == "" { number = $0; sub(/[:=-].*/, "", number); text = ""; $0 = substr($0, length(number) + 2) }
{
    at = index($0, "\001")
    if (at == 0) { text = text " " $0; next }
    text = text substr($0, 1, at - 1)
    gsub(/\002/, "\t", text); sub(/\r$/, "", text)
    if (length(text) < 100000) line(text)
    begin(substr($0, at + 1)); number = ""
}

function begin(name) {
    if (name == manifest_raw || name == "") return
    flush()
    manifest_raw = name; manifest = name; section = ""; list = ""; table = ""; in_table = 0
    if (prefix != "" && index(manifest, prefix) == 1) manifest = substr(manifest, length(prefix) + 1)
    base = manifest; sub(/.*\//, "", base)
    eco = base == "Cargo.toml" ? "Cargo" : base ~ /\.txt$/ ? "Python" : base == "pyproject.toml" ? "Python" : \
        base == "package.json" ? "npm" : base == "go.mod" ? "Go" : base == "Gemfile" ? "Ruby" : \
        base == "composer.json" ? "PHP" : base == "pom.xml" ? "Maven" : "Gradle"
    json_reset()
    print "T\t" eco "\t" manifest
}

function line(s) {
    if (base == "Cargo.toml") cargo(s)
    else if (base == "pyproject.toml") pyproject(s)
    else if (base ~ /\.txt$/) requirement(s, "normal")
    else if (eco == "npm" || eco == "PHP") json_line(s)
    else if (eco == "Go") go(s)
    else if (eco == "Ruby") ruby(s)
    else if (eco == "Maven") maven(s)
    else gradle(s)
}

function dependency(kind, name, version) {
    gsub(/[\t\001\002]/, " ", name); gsub(/[\t\001\002]/, " ", version)
    if (name != "") print "D\t" eco "\t" kind "\t" name "\t" substr(version, 1, 60) "\t" manifest
}

function unquote(s) { gsub(/^[ \t]*["']?|["']?[ \t,]*$/, "", s); return s }

# The text that follows `key = "` in an inline table or line.
function field(s, key,    rest) {
    if (!match(s, "(^|[{, \t])" key "[ \t]*=[ \t]*[\"'][^\"']*[\"']")) return ""
    rest = substr(s, RSTART, RLENGTH); sub(/^[^"']*["']/, "", rest); sub(/["']$/, "", rest)
    return rest
}

function cargo_kind(name) { return name ~ /dev-dependencies/ ? "dev" : name ~ /build-dependencies/ ? "build" : "normal" }

function cargo_version(s,    v) {
    if ((v = field(s, "version")) != "") return v
    if ((v = field(s, "git")) != "") return "git " v
    if ((v = field(s, "path")) != "") return "path " v
    return s ~ /workspace[ \t]*=[ \t]*true/ ? "workspace" : ""
}

# A table without a version is a dependency all the same.
function flush() {
    if (table != "") dependency(cargo_kind(section), table, "")
    table = ""
}

END { flush() }

function cargo(s,    key, value, at) {
    if (s ~ /^[ \t]*\[/) {
        flush()
        section = s; gsub(/^[ \t]*\[+|\]+.*$/, "", section)
        # [dependencies.name]: the version stands on a line of its own, if at all.
        in_table = match(section, /dependencies\./)
        if (in_table) { table = unquote(substr(section, RSTART + RLENGTH)); section = substr(section, 1, RSTART + 11) }
        return
    }
    if (section !~ /(^|[.-])dependencies$/ || s ~ /^[ \t]*(#|$)/) return
    if (in_table) {
        if (table != "" && match(s, /^[ \t]*(version|git|path|workspace)[ \t]*=/)) { dependency(cargo_kind(section), table, cargo_version(s)); table = "" }
        return
    }
    if (s !~ /^[ \t]*["'A-Za-z0-9_.-]+[ \t]*=/) return
    at = index(s, "="); key = unquote(substr(s, 1, at - 1)); value = substr(s, at + 1)
    if (key ~ /\.workspace$/) { sub(/\.workspace$/, "", key); dependency(cargo_kind(section), key, "workspace") }
    else if (key ~ /\.version$/) { sub(/\.version$/, "", key); sub(/[ \t]*#.*/, "", value); dependency(cargo_kind(section), key, unquote(value)) }
    else if (key ~ /\./) return
    else if (value ~ /^[ \t]*\{/) dependency(cargo_kind(section), key, cargo_version(value))
    else { sub(/[ \t]+#.*/, "", value); dependency(cargo_kind(section), key, unquote(value)) }
}

# One PEP 508 line: name[extra] >= 1 ; marker
function requirement(s, kind,    name, version) {
    sub(/(^|[ \t])#.*/, "", s); gsub(/^[ \t]+|[ \t\\]+$/, "", s)
    if (s == "" || s ~ /^-/ || s !~ /^[A-Za-z0-9]/ || s ~ /^[a-z+]+:\/\//) return
    sub(/[ \t]*;.*/, "", s); sub(/[ \t]+--.*/, "", s)
    match(s, /^[A-Za-z0-9._-]+/); name = substr(s, 1, RLENGTH); version = substr(s, RLENGTH + 1)
    sub(/^[ \t]*\[[^]]*\]/, "", version); gsub(/^[ \t]+/, "", version)
    dependency(kind, name, version)
}

function pyproject(s,    key, at, kind, rest) {
    if (list == "" && s ~ /^[ \t]*\[/) { section = s; gsub(/^[ \t]*\[+|\]+.*$/, "", section); return }
    if (list == "" && section ~ /^tool\.poetry\.(dev-|group\..*\.)?dependencies$/ && match(s, /^[ \t]*["A-Za-z0-9_.-]+[ \t]*=/)) {
        at = index(s, "="); key = unquote(substr(s, 1, at - 1)); rest = substr(s, at + 1)
        if (key != "python") dependency(section == "tool.poetry.dependencies" ? "normal" : "dev", key, rest ~ /\{/ ? cargo_version(rest) : unquote(rest))
        return
    }
    if (list == "") {
        if (section == "project" && s ~ /^[ \t]*dependencies[ \t]*=[ \t]*\[/) list = "normal"
        else if ((section == "project.optional-dependencies" || section == "dependency-groups") && s ~ /=[ \t]*\[/) list = "optional"
        else if (section == "build-system" && s ~ /^[ \t]*requires[ \t]*=[ \t]*\[/) list = "build"
        else return
        s = substr(s, index(s, "[") + 1)
    }
    kind = list
    while (match(s, /^[ \t,]*("[^"]*"|'[^']*')/)) {
        rest = unquote(substr(s, RSTART, RLENGTH)); sub(/^[ \t,]*["']?/, "", rest)
        s = substr(s, RSTART + RLENGTH); requirement(rest, kind)
    }
    if (s ~ /^[ \t,]*\]/) list = ""
}

function json_value(path, value,    top, name) {
    path = json_text(path, 1); value = json_text(value, 1)
    top = substr(path, 2); name = substr(top, index(top, ".") + 1); sub(/\..*/, "", top)
    if (eco == "npm" && top ~ /^(dependencies|devDependencies|peerDependencies|optionalDependencies)$/)
        dependency(top == "dependencies" ? "normal" : top == "devDependencies" ? "dev" : top == "peerDependencies" ? "peer" : "optional", name, value)
    if (eco == "PHP" && top ~ /^require(-dev)?$/ && name ~ /\//) dependency(top == "require" ? "normal" : "dev", name, value)
}

function go(s,    part, n) {
    if (s ~ /^require[ \t]*\(/) { list = "require"; return }
    if (s ~ /^\)/) { list = ""; return }
    if (s !~ /^require[ \t]/ && list != "require") return
    sub(/^require[ \t]+/, "", s); n = split(s, part, /[ \t]+/)
    if (part[1] == "" && n > 1) { part[1] = part[2]; part[2] = part[3] }
    if (part[1] !~ /^\/\// && part[2] ~ /^v/) dependency(s ~ /\/\/ indirect/ ? "indirect" : "normal", part[1], part[2])
}

function ruby(s,    part) {
    if (s !~ /^[ \t]*gem[ \t(]+["']/) return
    sub(/^[ \t]*gem[ \t(]+/, "", s); split(s, part, ",")
    dependency("normal", unquote(part[1]), part[2] ~ /["']/ && part[2] !~ /[:=]/ ? unquote(part[2]) : "")
}

function tag(s, name) {
    if (!match(s, "<" name ">[^<]*</" name ">")) return ""
    return substr(s, RSTART + length(name) + 2, RLENGTH - 2 * length(name) - 5)
}

function maven(s,    v) {
    if (s ~ /<dependency>/) { list = "dependency"; group = ""; artifact = ""; version = ""; scope = "normal" }
    if (list == "") return
    if ((v = tag(s, "groupId")) != "") group = v
    if ((v = tag(s, "artifactId")) != "") artifact = v
    if ((v = tag(s, "version")) != "") version = v
    if ((v = tag(s, "scope")) != "") scope = v
    if (s ~ /<\/dependency>/) { dependency(scope, group ":" artifact, version); list = "" }
}

function gradle(s,    kind, part) {
    if (!match(s, /^[ \t]*[a-z]*([Ii]mplementation|[Aa]pi|[Oo]nly|[Cc]ompile|[Kk]apt)[ \t(]+["'][^"':]+:[^"':]+(:[^"']*)?["']/)) return
    kind = s ~ /^[ \t]*(test|androidTest)/ ? "dev" : "normal"
    s = substr(s, RSTART, RLENGTH); sub(/^[^"']*["']/, "", s); sub(/["']$/, "", s); split(s, part, ":")
    dependency(kind, part[1] ":" part[2], part[3])
}
