# Languages by file name. `style` says how a comment line begins: see lines.sh.
# With -v list=STYLE it prints the pathspecs of that style's files instead of serving as a library.

function row(style, name, extensions,    i, n, each) {
    n = split(extensions, each, " ")
    for (i = 1; i <= n; i++) { by_extension[each[i]] = name; style_of[each[i]] = style }
}

function named(style, name, files,    i, n, each) {
    n = split(files, each, " ")
    for (i = 1; i <= n; i++) { by_name[each[i]] = name; name_style[each[i]] = style }
}

# The language of a path; an unknown extension stands for itself.
function language(path,    base, at, ext) {
    base = path
    while ((at = index(base, "/")) > 0) base = substr(base, at + 1)
    if (tolower(base) in by_name) return by_name[tolower(base)]
    ext = base
    while ((at = index(ext, ".")) > 0) ext = substr(ext, at + 1)
    if (length(ext) >= length(base) - 1) return "(no extension)"
    ext = tolower(ext)
    if (ext in by_extension) return by_extension[ext]
    return ext ~ /^[a-z0-9_+-]+$/ && length(ext) <= 12 ? "*." ext : "(other)"
}

BEGIN {
    row("slash", "Rust", "rs");             row("slash", "C", "c");             row("slash", "C/C++ header", "h hh hpp hxx")
    row("slash", "C++", "cc cpp cxx c++");  row("slash", "Java", "java");       row("slash", "JavaScript", "js mjs cjs jsx")
    row("slash", "TypeScript", "ts mts cts tsx"); row("slash", "Go", "go");     row("slash", "Swift", "swift")
    row("slash", "Kotlin", "kt kts");       row("slash", "Scala", "scala sc");  row("slash", "C#", "cs")
    row("slash", "PHP", "php");             row("slash", "Dart", "dart");       row("slash", "Zig", "zig")
    row("slash", "Objective-C", "m mm");    row("slash", "Groovy", "groovy gradle"); row("slash", "CSS", "css scss sass less")
    row("slash", "Protocol Buffers", "proto"); row("slash", "Solidity", "sol"); row("slash", "CUDA", "cu cuh")
    row("slash", "GLSL/WGSL", "glsl wgsl vert frag"); row("slash", "Verilog", "v sv")
    row("hash", "Python", "py pyi pyx");    row("hash", "Shell", "sh bash zsh ksh fish"); row("hash", "Ruby", "rb rake gemspec")
    row("hash", "Perl", "pl pm t");         row("hash", "YAML", "yml yaml");    row("hash", "TOML", "toml")
    row("hash", "R", "r");                  row("hash", "Julia", "jl");         row("hash", "Nix", "nix")
    row("hash", "Terraform", "tf hcl");     row("hash", "CMake", "cmake");      row("hash", "Elixir", "ex exs")
    row("hash", "PowerShell", "ps1 psm1");  row("hash", "Awk", "awk");          row("hash", "Makefile", "mk mak")
    row("hash", "Tcl", "tcl");              row("hash", "Just", "just");        row("hash", "Config", "cfg conf properties")
    row("hash", "GraphQL", "graphql gql");  row("hash", "Starlark", "bzl bazel star")
    row("dash", "SQL", "sql");              row("dash", "Lua", "lua");          row("dash", "Haskell", "hs lhs")
    row("dash", "Elm", "elm");              row("dash", "Ada", "adb ads");      row("dash", "VHDL", "vhd vhdl")
    row("percent", "TeX", "tex sty cls bib"); row("percent", "Erlang", "erl hrl"); row("percent", "Prolog", "pro")
    row("semicolon", "Lisp", "lisp lsp cl el scm rkt"); row("semicolon", "Clojure", "clj cljs cljc edn")
    row("semicolon", "Assembly", "s asm");  row("semicolon", "INI", "ini");     row("semicolon", "LLVM IR", "ll")
    row("markup", "HTML", "html htm xhtml"); row("markup", "XML", "xml xsl xsd svg plist"); row("markup", "Vue/Svelte", "vue svelte")
    row("none", "Markdown", "md markdown mdx"); row("none", "reStructuredText", "rst"); row("none", "AsciiDoc", "adoc asciidoc")
    row("none", "Text", "txt");             row("none", "JSON", "json jsonl json5 ndjson"); row("none", "CSV/TSV", "csv tsv")
    row("none", "Lock file", "lock");       row("none", "Patch", "patch diff"); row("none", "Jupyter", "ipynb")
    row("none", "Snapshot", "snap");        row("none", "JavaScript map", "map")
    named("hash", "Makefile", "makefile gnumakefile"); named("hash", "Dockerfile", "dockerfile containerfile")
    named("slash", "Go module", "go.mod");              named("hash", "CMake", "cmakelists.txt");          named("hash", "Just", "justfile")
    named("hash", "Ruby", "gemfile rakefile");         named("hash", "Ignore list", ".gitignore .gitattributes .dockerignore .npmignore")
    named("none", "Lock file", "package-lock.json pnpm-lock.yaml go.sum npm-shrinkwrap.json")
    named("none", "Licence text", "license copying licence license-mit license-apache unlicense")
    if (list != "") {
        for (key in by_extension) if (style_of[key] == list) print ":(top,icase,glob)**/*." key
        for (key in by_name) if (name_style[key] == list) print ":(top,icase,glob)**/" key
    }
}
