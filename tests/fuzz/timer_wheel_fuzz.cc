// Any bytes as operations on the timer wheel and its naive twin (core/timer_wheel_twin.h), with
// every invariant recomputed after each. The first thirteen bytes are the weights of the operations
// and of the kinds of deadline.
#include <cstddef>
#include <cstdint>

#include "core/timer_wheel_twin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  xylem::test::TimerWheelTwin<xylem::test::Wheel> twin({data, size});
  twin.run(20);
  xylem::test::TimerWheelTwin<xylem::test::EngineWheel>({data, size}).run(20);
  return 0;
}
