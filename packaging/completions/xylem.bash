# Completion of xylem for bash: subcommands, then tubes of the server, then options as --help lists them.
_xylem() {
  local word=${COMP_WORDS[COMP_CWORD]} command= each
  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $each == -* || -n $command ]] || command=$each
  done
  if [[ -z $command && $word != -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "put work dump load tubes stats top peek ls wait delete bury release \
      reprioritize kick-job kick flush move pause resume ping version drain undrain log bench" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(xylem ${command:+"$command"} --help 2>/dev/null |
      grep -oE -- '--[a-z-]+' | sort -u)" -- "$word")
  else
    case $command in
      work | dump | tubes | stats | peek | ls | wait | kick | flush | move | pause | resume)
        mapfile -t COMPREPLY < <(compgen -W "$(xylem tubes 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$word") ;;
      log) mapfile -t COMPREPLY < <(compgen -W "check dump" -- "$word"; compgen -d -- "$word") ;;
      *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
  fi
}
complete -F _xylem xylem
