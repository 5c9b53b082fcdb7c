# Completion of xylem for fish: subcommands, then tubes of the server, then options as --help lists them.
function __xylem_tubes
    set -l words (commandline -opc)
    set -l server
    for at in (seq (count $words))
        contains -- $words[$at] -H --server; and set server -H $words[(math $at + 1)]
    end
    xylem $server tubes 2>/dev/null | awk 'NR > 1 { print $1 }'
end
set -l commands put work dump load tubes stats top peek ls wait delete bury release reprioritize kick-job kick flush \
    move pause resume ping version drain undrain log bench
set -l with_tubes work dump tubes stats peek ls wait kick flush move pause resume
complete -c xylem -f -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c xylem -f -n "__fish_seen_subcommand_from $with_tubes" -a "(__xylem_tubes)"
complete -c xylem -f -n "__fish_seen_subcommand_from log" -a "check dump"
complete -c xylem -l json -d "print data as JSON"
complete -c xylem -s H -l server -x -d "HOST:PORT or unix:PATH"
complete -c xylem -s t -l tube -x -a "(__xylem_tubes)" -d "the tube"
