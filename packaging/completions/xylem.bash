# Completion of xylem for bash: subcommands, then tubes of the server, then options as --help lists them. A tube may be
# called $(reboot): names that a server tells are never expanded, so not by compgen -W, and are quoted when put in.
_xylem_tubes() {
  local tube
  while read -r tube; do
    printf -v tube %q "$tube"
    [[ $tube != "$word"* ]] || COMPREPLY+=("$tube")
  done < <(xylem ${server:+-H "$server"} tubes 2>/dev/null | awk 'NR > 1 { print $1 }')
}

_xylem() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= server= at=1
  COMPREPLY=()
  while ((at < COMP_CWORD)); do
    case ${COMP_WORDS[at++]} in
      -H | --server) # bash takes db:11300 for three words
        [[ ${COMP_WORDS[at]} != = ]] || ((at++))
        server=${COMP_WORDS[at++]}
        while [[ ${COMP_WORDS[at]} == :* ]]; do
          server+=${COMP_WORDS[at]}${COMP_WORDS[at+1]}
          ((at += 2))
        done
        ((at <= COMP_CWORD)) || return ;;
      -*) ;;
      *) command=${command:-${COMP_WORDS[at-1]}} ;;
    esac
  done
  if [[ $before == -t || $before == --tube ]]; then
    _xylem_tubes
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(xylem ${command:+"$command"} --help 2>/dev/null |
      grep -oE -- '--[a-z-]+' | sort -u)" -- "$word")
  elif [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "put work dump load tubes stats top peek ls wait delete bury release \
      reprioritize kick-job kick flush move pause resume ping version drain undrain log bench" -- "$word")
  else
    case $command in
      work | dump | tubes | stats | peek | ls | wait | kick | flush | move | pause | resume) _xylem_tubes ;;
      log) mapfile -t COMPREPLY < <(compgen -W "check dump" -- "$word"; compgen -d -- "$word") ;;
      *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
  fi
}
complete -F _xylem xylem
