// Heads are enough: that a record's rest cannot be read does not matter, since the job is in
// memory.
#include "xylem/storage/segment_scan.h"

#include <variant>

#include "storage/segment_reader.h"

namespace xylem {

void SegmentScan::run() {
  if (auto scanned = scan(); !scanned) problem = scanned.error().text;
}

Result<Done> SegmentScan::scan() {
  auto file = directory_.open(segment_name(number_));
  if (!file) return file.error();
  SegmentReader reader(*file.value());
  auto start = reader.start();
  if (!start) return start.error();
  if (!start.value().header) return Error{"its header cannot be read"};
  while (true) {
    auto next = reader.next();
    if (!next) return next.error();
    const SegmentReader::Item& item = next.value();
    if (std::holds_alternative<SegmentReader::End>(item)) return Done{};
    if (std::holds_alternative<SegmentReader::Gap>(item)) problem = "a part of it cannot be read";
    const auto* head = std::get_if<SegmentReader::Head>(&item);
    if (head != nullptr && head->head.is_put()) jobs.push_back(head->head.id);
  }
}

}  // namespace xylem
