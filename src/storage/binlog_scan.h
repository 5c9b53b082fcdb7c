// One pass over a binlog file: its records go to the index until the file ends or a record makes no
// sense.
#pragma once

#include <cstddef>

#include "storage/binlog_index.h"
#include "storage/binlog_window.h"
#include "xylem/storage/binlog.h"

namespace xylem::binlog {

// `file` is the number of the file in its directory's list; the result has no name yet.
BinlogFile scan(FileWindow& window, std::size_t file, Index& index);

}  // namespace xylem::binlog
