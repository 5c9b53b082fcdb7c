// What an operator asks of a stopped server's log: `xylemd --check-log DIR` and `--dump-log DIR`.
// Both only read.
#pragma once

#include <cstdio>

#include "xylem/result.h"
#include "xylem/storage/file.h"

namespace xylem {

enum class DumpFormat { kText, kJson };

// Verifies every record, also those of deleted jobs, and prints what a start would find: segments,
// jobs by state and tube, pauses, damage, a torn tail; in JSON all of it is one object. True: there
// is no damage (a torn tail is none). Errors: as of recover().
Result<bool> check_log(Directory& directory, DumpFormat format, std::FILE* out);

// Prints a line for each record, in the log's order, deletes and notes included, with the segment,
// the offset and the index of its batch; and one for bytes that do not verify. In JSON each line is
// an object; a body that is not UTF-8 is there as "body_base64". Times are seconds since 1970.
Result<Done> dump_log(Directory& directory, DumpFormat format, std::FILE* out);

}  // namespace xylem
