#!/bin/sh
# Does to a home what `codex plugin` of 0.171.0 was measured to do to it.
home=${CODEX_HOME:-$HOME/.codex}
config=$home/config.toml
printf '%s\n' "$*" >> "$HOME/codex.log"
[ -e "$HOME/codex.refuses" ] && { cat "$HOME/codex.refuses" >&2; exit 1; }
mkdir -p "$home"
[ -e "$config" ] || : > "$config"
cache=$home/plugins/cache/ibid/ibid

# Puts a table at the end, behind a blank line unless the file is empty.
put() {
    grep -qF "[$1]" "$config" && return
    [ -s "$config" ] && [ -n "$(tail -c 1 "$config")" ] && echo >> "$config"
    [ -s "$config" ] && echo >> "$config"
    printf '[%s]\n%s\n' "$1" "$2" >> "$config"
}

# Takes a table out, with the blank line above it.
take() {
    awk -v table="[$1]" '
        /^\[/ { inside = ($0 == table) }
        inside { held = ""; next }
        { if (held != "") printf "%s", held; held = $0 "\n" }
        $0 != "" { printf "%s", held; held = "" }
        END { printf "%s", held }
    ' "$config" > "$config.new" && cat "$config.new" > "$config" && rm "$config.new"
}

case "$*" in
"plugin marketplace add "*)
    source=$(sed -n '/^\[marketplaces.ibid\]/,/^$/s/^source = "\(.*\)"$/\1/p' "$config")
    if [ -n "$source" ] && [ "$source" != "$4" ]; then
        echo "Error: marketplace 'ibid' is already added from a different source; remove it before adding this source" >&2
        exit 1
    fi
    put marketplaces.ibid "source_type = \"local\"
source = \"$4\""
    ;;
"plugin marketplace remove ibid")
    grep -qF '[marketplaces.ibid]' "$config" || {
        echo 'Error: marketplace `ibid` is not configured or installed' >&2
        exit 1
    }
    take marketplaces.ibid
    ;;
"plugin add ibid@ibid")
    source=$(sed -n '/^\[marketplaces.ibid\]/,/^$/s/^source = "\(.*\)"$/\1/p' "$config")
    plugin=$source/plugins/ibid
    version=$(sed -n 's/.*"version": "\(.*\)",/\1/p' "$plugin/.codex-plugin/plugin.json")
    rm -rf "$cache" && mkdir -p "$cache/$version" && cp -R "$plugin/." "$cache/$version"
    put 'plugins."ibid@ibid"' 'enabled = true'
    ;;
"plugin remove ibid@ibid")
    rm -rf "$cache"
    take 'plugins."ibid@ibid"'
    ;;
*)
    echo "Error: unknown command" >&2
    exit 2
    ;;
esac
