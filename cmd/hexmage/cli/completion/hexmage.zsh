#compdef hexmage
# zsh completion for hexmage: what may stand at the cursor says the program itself.
_hexmage() {
  local line program=${~words[1]}
  local -a offers=() shown=() joined=()
  local files=
  for line in "${(@f)$("$program" complete zsh -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) files=1 ;;
      :nospace) joined=(-S '') ;;
      ?*)
        offers+=("${line%%$'\t'*}")
        shown+=("${line%%$'\t'*}  ${line#*$'\t'}")
        ;;
    esac
  done
  (( $#offers )) && compadd -l "${joined[@]}" -d shown -a offers
  if [[ -n $files ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    _files
  fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _hexmage "$@"
else
  compdef _hexmage hexmage
fi
