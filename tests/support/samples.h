// Records of every type, for the tests of the log, and how two records are compared: as text that a
// failed check can show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "xylem/core/record.h"

namespace xylem::test {

// One of each type and, of puts, one of each shape; all short. Ids 1 to 5 are puts.
std::vector<Record> sample_records();

// All fields of a record, in one line; a body that stands in a Buffer is shown like any other.
std::string text_of(const Record& record);

// A ready job, in tube t.
PutRecord put(JobId id, std::string_view body = "body");
// A put with a body in a Buffer, as the engine makes it; the views are into `buffer`.
PutRecord long_put(JobId id, const BufferRef& buffer);
// `bytes` bytes that differ from each other, and CRLF.
BufferRef long_body(std::uint32_t bytes);

// The same segment as format 2 would have it.
std::string later_format(std::string segment);

}  // namespace xylem::test
