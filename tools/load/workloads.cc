// The table of workloads. docs/benchmarks.md says what each figure means: if you add a line here,
// also add one there.
#include <array>

#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr bool kFloor = true;

constexpr std::array kWorkloads = {
    Workload{"cycle", "put, reserve and delete on each connection; 3 commands a job", kFloor,
             run_cycle},
    Workload{"put", "put --jobs jobs into one tube", kFloor, run_put},
    Workload{"reserve", "reserve and delete --jobs jobs of one tube", kFloor, run_reserve},
    Workload{"delete", "delete --jobs ready jobs by id", kFloor, run_delete},
    Workload{"steady-put", "put for --time seconds; with a log, beside the syncs of its disk",
             false, run_steady_put},
    Workload{"backlog", "fill a tube with --jobs jobs, then drain it", kFloor, run_backlog},
    Workload{"mixed", "all the usual commands, at random", false, run_mixed},
    Workload{"create-tubes", "create --tubes tubes by use and put", false, run_create_tubes},
    Workload{"spread", "use and put --jobs jobs over --tubes tubes in turn", false, run_spread},
    Workload{"watching", "blocking reserves of a worker that watches --tubes tubes", false,
             run_watching},
    Workload{"holding", "touch and delete with --jobs jobs held by the connection", false,
             run_holding},
    Workload{"delayed", "delayed put, promotion and cancel beside --backlog delayed jobs", false,
             run_delayed},
    Workload{"peek-kick", "peek-delayed and kick 1 in turn over --jobs delayed jobs", false,
             run_peek_kick},
    Workload{"lateness", "how late --rate due jobs a second are", false, run_lateness},
    Workload{"stall-due", "a bystander's wait while --jobs jobs become due in a second", false,
             run_stall_due},
    Workload{"stall-kick", "... while kick moves --jobs jobs", false, run_stall_kick},
    Workload{"stall-growth", "... while the queue grows to --jobs jobs", false, run_stall_growth},
    Workload{"stall-close", "... while a connection holding --jobs jobs closes", false,
             run_stall_close},
    Workload{"stall-list", "... while --tubes tubes are listed", false, run_stall_list},
    Workload{"stall-put", "... while jobs are put for --time seconds", false, run_stall_put},
    Workload{"stall-compact", "... while three quarters of --jobs jobs are deleted", false,
             run_stall_compact},
    Workload{"log-size", "bytes on disk, and written, for each of --jobs jobs put", false,
             run_log_size},
    Workload{"log-churn", "bytes written for each of --jobs jobs through --backlog live ones",
             false, run_log_churn},
    Workload{"recovery", "restart with --jobs jobs in the log", false, run_recovery},
    Workload{"recovery-half", "the same with as many deleted ones between them", false,
             run_recovery_half},
    Workload{"memory-ready", "RSS for each ready job, and what is kept after a drain", false,
             run_memory_ready},
    Workload{"memory-delayed", "the same for delayed jobs", false, run_memory_delayed},
    Workload{"memory-connections", "RSS for each of --jobs idle connections", false,
             run_memory_connections},
    Workload{"memory-tubes", "RSS for each of --tubes tubes with one job", false, run_memory_tubes},
};

}  // namespace

std::span<const Workload> workloads() { return kWorkloads; }

}  // namespace xylem::load
