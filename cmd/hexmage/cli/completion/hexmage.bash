# bash completion for hexmage: what may stand at the cursor says the program itself.
_hexmage() {
  local line word
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) compopt -o default 2>/dev/null ;;
      :nospace) compopt -o nospace 2>/dev/null ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done < <("${1/#\~/$HOME}" complete bash -- "${COMP_LINE:0:COMP_POINT}" "${COMP_WORDS[COMP_CWORD]}" 2>/dev/null)
}
complete -F _hexmage hexmage
