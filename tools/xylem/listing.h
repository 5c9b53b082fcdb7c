// The jobs of tubes as list-jobs tells them, page by page, and their bodies by a pipeline of peeks.
// A job that is gone by the time its body is asked for is left out.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline.h"
#include "tool.h"

namespace xylem::tool {

inline constexpr std::array<std::string_view, 4> kStates{"ready", "reserved", "delayed", "buried"};

// The server's own bound for one page.
inline constexpr std::uint32_t kPage = 1'000;

// At most kPage jobs with an id above `after`, in id order; none if there is no such tube. The
// server walks the ids of all tubes for each page, so a page that is not full is known to be the
// last, and none is asked for in vain.
Result<std::vector<Map>> list_page(Connection& connection, const std::string& tube,
                                   std::string_view state, JobId after, std::uint32_t count);

inline JobId id_of(const Map& row) { return client::number_of(row, "id"); }

// take(row, body) for each of the rows that is still there, in their order. A row is anything that
// id_of() knows the job of.
template <class Row, class Take>
Result<std::monostate> with_bodies(Connection& connection, const std::vector<Row>& rows,
                                   Take take) {
  std::size_t at = 0;
  Pipeline pipeline(connection, [&](Reply&& reply) {
    const Row& row = rows[at++];
    if (reply.is("FOUND")) take(row, reply.body);
  });
  for (const Row& row : rows) {
    connection.send("peek " + std::to_string(id_of(row)));
    if (auto done = pipeline.went(); !done) return done;
  }
  return pipeline.drain();
}

}  // namespace xylem::tool
