// The one table of subcommands, in the groups of --help. What a row says is all that there is to
// say; a test runs every subcommand's --help and finds a man page for it.
#include <array>

#include "subcommand.h"

namespace xylem::tool {
namespace {

constexpr Subcommand kWork[] = {
    {"put", "Put a job, or one for each line of the input",
     "xylem put hello\n"
     "xylem put -t mail -d 15m --ttr 2h @letter.json\n"
     "find . -name '*.jpg' | xylem put -t thumbnails --lines",
     set_up_put},
    {"work", "Run a command for each job of some tubes",
     "xylem work mail -- sendmail -t\n"
     "xylem work -j 8 thumbnails -- convert {} -resize 200x {}.small\n"
     "xylem work a b --max-tries 3 --kill-after 10m -- sh -c 'cat >\"$XYLEM_JOB_ID\"'",
     set_up_work},
    {"dump", "Write every job as a line of JSON",
     "xylem dump >jobs.ndjson\n"
     "xylem dump mail thumbnails | gzip >jobs.ndjson.gz\n"
     "xylem dump --ids 1-5000 -H beanstalkd:11300 >jobs.ndjson",
     set_up_dump},
    {"load", "Put the jobs that dump wrote",
     "xylem load <jobs.ndjson\n"
     "xylem load --skip-existing <jobs.ndjson",
     set_up_load},
};

constexpr Subcommand kLook[] = {
    {"tubes", "List the tubes and what is in them",
     "xylem tubes\n"
     "xylem tubes 'mail-*' --sort buried\n"
     "xylem tubes --json | jq '.[].name'",
     set_up_tubes},
    {"stats", "Show the figures of the server, a tube or a job",
     "xylem stats\n"
     "xylem stats mail\n"
     "xylem stats 17\n"
     "xylem stats -t 2026",
     set_up_stats},
    {"top", "Watch the tubes, full screen", "xylem top --interval 5s", set_up_top},
    {"peek", "Print a job's body and leave the job alone",
     "xylem peek 17\n"
     "xylem peek mail --buried",
     set_up_peek},
    {"ls", "List the jobs of a tube",
     "xylem ls mail --state buried\n"
     "xylem ls mail --match @example.org -n 5 --json\n"
     "xylem ls mail --after 1000",
     set_up_ls},
    {"wait", "Wait until a tube has no ready, delayed or reserved job",
     "xylem wait mail --empty --timeout 10m && deploy", set_up_wait},
};

constexpr Subcommand kJobs[] = {
    {"delete", "Delete jobs", "xylem delete 17 18", set_up_delete},
    {"bury", "Bury jobs that no worker holds", "xylem bury 17", set_up_bury},
    {"release", "Make jobs ready, or delayed, that no worker holds",
     "xylem release 17\n"
     "xylem release 17 -p 0 -d 1h",
     set_up_release},
    {"reprioritize", "Give jobs another priority", "xylem reprioritize 17 18 -p 0",
     set_up_reprioritize},
    {"kick-job", "Make buried or delayed jobs ready", "xylem kick-job 17 18", set_up_kick_job},
};

constexpr Subcommand kTubes[] = {
    {"kick", "Make buried jobs ready; where there are none, delayed ones",
     "xylem kick mail\n"
     "xylem kick mail all",
     set_up_kick},
    {"flush", "Delete the jobs of a tube that no worker holds",
     "xylem flush mail\n"
     "xylem flush mail --state buried --yes",
     set_up_flush},
    {"move", "Move the jobs of a tube that no worker holds to another",
     "xylem move mail mail-later --state buried", set_up_move},
    {"pause", "Hand out no jobs of a tube for a time", "xylem pause mail 15m", set_up_pause},
    {"resume", "End a pause", "xylem resume mail", set_up_resume},
};

constexpr Subcommand kServers[] = {
    {"ping", "Ask whether the server answers, and how fast", "xylem ping -H db:11300", set_up_ping},
    {"version", "Print the versions of xylem and of the server", "xylem version", set_up_version},
    {"drain", "Let the server take no new jobs", "xylem drain && xylem wait mail --empty",
     set_up_drain},
    {"undrain", "Let it take new jobs again", "xylem undrain", set_up_undrain},
    {"log", "Read the log directory of a stopped server",
     "xylem log check /var/lib/xylem\n"
     "xylem log dump /var/lib/xylem --json",
     set_up_log},
    {"bench", "Measure the server; xylem-bench --help has its options",
     "xylem -H 127.0.0.1:11301 bench -c 10 -d 16", set_up_bench},
};

constexpr std::array<Group, 5> kGroups{{{"Put and work", kWork},
                                        {"Look", kLook},
                                        {"Change jobs", kJobs},
                                        {"Change tubes", kTubes},
                                        {"Servers", kServers}}};

}  // namespace

std::span<const Group> groups() { return kGroups; }

}  // namespace xylem::tool
