// Any bytes as a history of the engine: it must agree with its naive twin, and every invariant must
// hold. The bytes are read as in tests/simulation: settings, then eight a step.
#include <cstddef>
#include <cstdint>

#include "simulation/simulation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  xylem::simulation::Simulation({data, size}).run();
  return 0;
}
