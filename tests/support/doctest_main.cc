// The main() that all doctest binaries share, compiled once.
// A test binary is this object, the tests of one folder, and the libraries they test.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
