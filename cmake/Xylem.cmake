# How a target of Xylem is made: compiler settings for all of them, and the helpers xylem_module, xylem_program and
# xylem_test that the root CMakeLists.txt reads as a table. Sources are globbed with CONFIGURE_DEPENDS, which
# makes ninja look again before each build: adding a file is all one has to do.
include_guard()
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

option(XYLEM_TESTS "Build the tests" ON)
option(XYLEM_FUZZ "Build the libFuzzer harnesses (clang only)" OFF)
option(XYLEM_LTO "Optimise across files at link time" OFF)
set(XYLEM_SANITIZE "" CACHE STRING "Sanitizers for all targets, as -fsanitize= takes them")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()
# -Og and -g1 (lines, but no variables) take half as long to compile as -O1 and -g. For a debugger: -DCMAKE_CXX_FLAGS=-g.
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1 -D_GLIBCXX_ASSERTIONS")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g -DNDEBUG")
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ${XYLEM_LTO})

# What ccache must overlook to keep objects that a precompiled header went into.
find_program(XYLEM_CCACHE ccache)
if(XYLEM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  ${XYLEM_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
                    -Wnon-virtual-dtor $<$<CONFIG:Debug>:-Werror>)
add_compile_definitions(XYLEM_VERSION="${PROJECT_VERSION}")

# Random histories take four times as long under a sanitizer: tests run a quarter of them there.
set(XYLEM_SLOWNESS 1)
if(XYLEM_SANITIZE)
  set(XYLEM_SLOWNESS 4)
  # GCC's -Wmaybe-uninitialized is wrong of instrumented code too often to stop a build (its manual says so with
  # -fsanitize); dev has it.
  add_compile_options(-fsanitize=${XYLEM_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${XYLEM_SANITIZE})
endif()
if(XYLEM_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# xylem_module(NAME [DEPENDS target...] [PRIVATE_DEPENDS target...])
# The static library xylem_NAME from src/NAME/*.cc. Who uses it may include the headers of its DEPENDS, not those of its
# PRIVATE_DEPENDS.
function(xylem_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  add_library(xylem_${name} STATIC ${sources})
  target_include_directories(xylem_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                           PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(xylem_${name} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
endfunction()

# xylem_program(NAME SOURCES file... [DEPENDS target...])
# The executable NAME, in the top of the build folder and installed.
function(xylem_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
endfunction()

# xylem_test(NAME [LIBS target...] [TIMEOUT seconds] [ENVIRONMENT var=value...])
# The test binary NAME_test from tests/NAME/*.cc with doctest's shared main, and the ctest test NAME. The sources
# may include tests/support as "support/...", and the private headers of src as "core/...".
function(xylem_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "LIBS;ENVIRONMENT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*.cc)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name}_test ${sources})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name}_test PRIVATE xylem_doctest_main ${arg_LIBS})
  target_compile_definitions(${name}_test PRIVATE XYLEM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# xylem_precompile(FOLDER)
# Lets each target of FOLDER and of the folders beneath it that has no precompiled headers of its own take those of
# the standard library from one target: reading them is a fifth of what a file costs to compile. A file includes what
# it uses all the same. Plug-ins are left alone: their flags may be others.
function(xylem_precompile folder)
  if(NOT TARGET xylem_std)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/xylem_std.cc CONTENT "")
    add_library(xylem_std OBJECT ${PROJECT_BINARY_DIR}/xylem_std.cc)
    target_precompile_headers(xylem_std PRIVATE
      <algorithm> <array> <charconv> <chrono> <cstdint> <cstring> <deque> <functional> <limits> <map> <memory>
      <optional> <random> <span> <string> <string_view> <utility> <variant> <vector>)
  endif()
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(own ${target} PRECOMPILE_HEADERS)
    if(type MATCHES "^(EXECUTABLE|STATIC_LIBRARY|OBJECT_LIBRARY)$" AND NOT own AND NOT target STREQUAL xylem_std)
      target_precompile_headers(${target} REUSE_FROM xylem_std)
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    xylem_precompile(${below})
  endforeach()
endfunction()

# xylem_compile_apart(target...)
# CMAKE_UNITY_BUILD, which the presets asan and fuzz set, compiles several files of a target as one: headers are read
# once. Not for these, whose files have the same names in their anonymous namespaces. dev compiles all files apart, and
# so shows that each includes what it uses.
function(xylem_compile_apart)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    endif()
  endforeach()
endfunction()
