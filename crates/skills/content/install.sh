#!/bin/sh
# Installs the retrieval skills for agents into your home folder. Run it again to update.
#
#   curl -fsSL {{BASE_URL}}/skills/install.sh | sh
#   curl -fsSL {{BASE_URL}}/skills/install.sh | sh -s -- --dry-run
#
# SKILLS_DIR      folder of the skills; default: ~/.claude/skills if ~/.claude exists, otherwise ~/.agents/skills
# AGENTS_DIR      folder of the subagent; default: `agents` next to SKILLS_DIR
#
# Needs no API key and reads none. All code is in functions, so that a partial download runs nothing.

set -eu

BASE_URL='{{BASE_URL}}'
SKILLS='{{SKILLS}}'
AGENT='retrieval-researcher'

usage() {
  cat <<'USAGE'
usage: install.sh [--dry-run] [--uninstall] [--help]

  --dry-run     print the changes without making them
  --uninstall   remove the installed skills
USAGE
}

say() { printf '%s\n' "$*"; }

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

digest_of() {
  case "$1" in
{{DIGESTS}}
    *) fail "no known digest for '$1'" ;;
  esac
}

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsS --proto '=http,https' --max-time 30 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -T 30 -O "$2" "$1"
  else
    fail "curl and wget are missing: install one of them"
  fi
}

sha256() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail "cannot verify downloads: install sha256sum, shasum or openssl"
  fi
}

# fetch_checked PATH FILE
fetch_checked() {
  fetch "$BASE_URL/skills/$1" "$2" || fail "cannot fetch $BASE_URL/skills/$1"
  [ "$(sha256 "$2")" = "$(digest_of "$1")" ] || fail "$1 does not match the digest in this installer: download the installer again"
}

# put FILE TARGET: atomic; leaves an identical target unchanged
put() {
  if [ -f "$2" ] && cmp -s "$1" "$2"; then
    say "unchanged  $2"
    return
  fi
  mkdir -p "$(dirname "$2")" || fail "cannot create the folder $(dirname "$2")"
  cp "$1" "$2.new" && mv -f "$2.new" "$2" || fail "cannot write $2"
  say "installed  $2"
}

install() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/retrieval-skills.XXXXXX") || fail "cannot create a temporary folder"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  # Fetches and verifies everything before installing anything.
  for skill in $SKILLS; do
    mkdir -p "$work/$skill"
    fetch_checked "$skill/SKILL.md" "$work/$skill/SKILL.md"
  done
  fetch_checked "agents/$AGENT.md" "$work/$AGENT.md"
  for skill in $SKILLS; do
    put "$work/$skill/SKILL.md" "$skills_dir/$skill/SKILL.md"
  done
  put "$work/$AGENT.md" "$agents_dir/$AGENT.md"
  say "Skills: $skills_dir. Subagent: $agents_dir."
  say "They use the API key from RETRIEVAL_API_KEY or from 'retrieval login'."
}

uninstall() {
  for skill in $SKILLS; do
    remove "$skills_dir/$skill/SKILL.md"
    rmdir "$skills_dir/$skill" 2>/dev/null || :
  done
  remove "$agents_dir/$AGENT.md"
}

remove() {
  if [ -f "$1" ]; then
    rm -f "$1" || fail "cannot remove $1"
    say "removed    $1"
  fi
}

main() {
  dry_run=no
  action=install
  for argument in "$@"; do
    case "$argument" in
      --dry-run) dry_run=yes ;;
      --uninstall) action=uninstall ;;
      --help | -h)
        usage
        return
        ;;
      *)
        usage >&2
        fail "unknown argument '$argument'"
        ;;
    esac
  done
  if [ -n "${SKILLS_DIR:-}" ]; then
    skills_dir=$SKILLS_DIR
  elif [ -z "${HOME:-}" ]; then
    fail "HOME is not set: set SKILLS_DIR"
  elif [ -d "$HOME/.claude" ]; then
    skills_dir=$HOME/.claude/skills
  else
    skills_dir=$HOME/.agents/skills
  fi
  agents_dir=${AGENTS_DIR:-$(dirname "$skills_dir")/agents}
  if [ "$dry_run" = yes ]; then
    for skill in $SKILLS; do
      say "would $action  $skills_dir/$skill/SKILL.md"
    done
    say "would $action  $agents_dir/$AGENT.md"
    return
  fi
  "$action"
}

main "$@"
