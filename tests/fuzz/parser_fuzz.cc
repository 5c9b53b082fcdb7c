// Any bytes to the parser: it must keep its contract (parsed_stream.h demands it of every item) and
// say the same however the stream is cut. The first byte of the input chooses the limit of a body
// and the cuts, the rest is the stream.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "protocol/parsed_stream.h"

namespace xylem::test {
namespace {

// So that a text editor can choose: '0' is the first.
constexpr std::array<std::uint32_t, 4> kJobBytes{limits::kDefaultJobBytes, 3, 5'000,
                                                 limits::kMostJobBytes};

void parse_in_many_ways(std::uint8_t choice, std::string_view stream) {
  constexpr std::size_t kLongestPiece = 400;
  const std::uint32_t most_job_bytes = kJobBytes[choice % kJobBytes.size()];
  const Items whole = items_of(stream, most_job_bytes);
  const std::size_t piece = stream.size() <= 500 ? 1 : 61;  // a long stream byte by byte takes long
  demand(in_pieces_of(piece, stream, most_job_bytes) == whole, "the same byte by byte");
  demand(in_random_pieces(choice + 1U, stream, kLongestPiece, most_job_bytes) == whole,
         "the same in pieces");
}

}  // namespace
}  // namespace xylem::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  xylem::test::parse_in_many_ways(data[0], stream);
  return 0;
}
