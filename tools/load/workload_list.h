// Every workload's function; workloads.cc has the table that names them. A new workload is declared
// here, named there, and explained in docs/benchmarks.md.
#pragma once

#include "bench.h"

namespace xylem::load {

Figures run_cycle(const Bench& bench);
Figures run_put(const Bench& bench);
Figures run_reserve(const Bench& bench);
Figures run_delete(const Bench& bench);
Figures run_steady_put(const Bench& bench);
Figures run_backlog(const Bench& bench);
Figures run_mixed(const Bench& bench);
Figures run_create_tubes(const Bench& bench);
Figures run_spread(const Bench& bench);
Figures run_watching(const Bench& bench);
Figures run_holding(const Bench& bench);
Figures run_delayed(const Bench& bench);
Figures run_peek_kick(const Bench& bench);
Figures run_lateness(const Bench& bench);
Figures run_stall_due(const Bench& bench);
Figures run_stall_kick(const Bench& bench);
Figures run_stall_growth(const Bench& bench);
Figures run_stall_close(const Bench& bench);
Figures run_stall_list(const Bench& bench);
Figures run_stall_put(const Bench& bench);
Figures run_stall_compact(const Bench& bench);
Figures run_log_size(const Bench& bench);
Figures run_log_churn(const Bench& bench);
Figures run_recovery(const Bench& bench);
Figures run_recovery_half(const Bench& bench);
Figures run_memory_ready(const Bench& bench);
Figures run_memory_delayed(const Bench& bench);
Figures run_memory_connections(const Bench& bench);
Figures run_memory_tubes(const Bench& bench);

}  // namespace xylem::load
