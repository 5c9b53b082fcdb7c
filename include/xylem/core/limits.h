// Everything that can grow has its limit here, with the reason. Reaching one is a tested path; what
// an operator may choose instead stands in config.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace xylem::limits {

// The longest legal line of beanstalkd's: "pause-tube" + a 200-byte name + " 4294967295", with
// CRLF.
inline constexpr std::size_t kLineBytes = 224;
// That of list-jobs and move-jobs: "move-jobs" + two names + " delayed 4294967295", with CRLF. A
// page behind an id of 20 digits has to be asked for in a tube of any name.
inline constexpr std::size_t kLongLineBytes = 432;
inline constexpr std::size_t kTubeNameBytes = 200;

// max-job-size: beanstalkd's default, and the most that may be configured.
inline constexpr std::uint32_t kDefaultJobBytes = 65'535;
inline constexpr std::uint32_t kMostJobBytes = 1'073'741'824;

// Bodies up to here stand in the job's own block; longer ones are counted buffers.
inline constexpr std::uint32_t kInlineBodyBytes = 4'096;
// A long body's buffer starts here and doubles with what arrives, never with what was promised.
inline constexpr std::uint32_t kFirstBufferBytes = 65'536;

// Jobs that one turn promotes, expires, hands out, kicks or walks before the sockets have their
// turn again: about a third of a millisecond.
inline constexpr std::uint32_t kSlice = 1'000;
// Entries of a timer wheel that one call moves down a level before it leaves the rest for the next;
// flushed jobs that a walk over the ids passes over.
inline constexpr std::uint32_t kSpread = 4'096;

// The most jobs that one list-jobs shows: about 200 KB of text.
inline constexpr std::uint32_t kJobsPerList = 1'000;

// Ready jobs of a priority below this count as urgent.
inline constexpr std::uint32_t kUrgentBelow = 1'024;
// A waiting client hears DEADLINE_SOON this long before a job of its own runs out of ttr.
inline constexpr std::chrono::seconds kSafetyMargin{1};

// A connection that owes this much output is not parsed until the peer has read; one reply more
// fits.
inline constexpr std::size_t kOutBufferBytes = 1'048'576;
// When all connections together owe so many times that (256 MiB), only those go on that owe at most
// this part of it (16 KiB): ten thousand that never read cost this part and a reply more each, and
// who reads goes on, in smaller pieces.
inline constexpr std::size_t kOutBuffersTogether = 256;
inline constexpr std::size_t kOutBufferShare = 64;
// What a connection that is not parsed may have read ahead; then its socket is left unread.
inline constexpr std::size_t kReadAheadBytes = 65'536;
// Commands of one connection that one turn executes before the others have theirs, and what is read
// of one at once. Where n have more left than that, it is a part in n + 1, but at least so much:
// who comes new waits for all of them once.
inline constexpr std::uint32_t kCommandsPerTurn = 1'000;
inline constexpr std::uint32_t kLeastCommandsPerTurn = 32;
inline constexpr std::size_t kLeastReadBytes = 4'096;
// Steps of one turn for the sockets that have become readable, and again for the connections that
// have something left: a command is a step, each tube that a reserve looks at is one, and an event
// counts as many as its system calls cost. About two milliseconds; what is over has the next turn.
inline constexpr std::uint64_t kStepsPerTurn = 10'000;
inline constexpr std::uint64_t kStepsPerEvent = 16;
// A segment of the log: below, it would hold next to nothing; above, it is read and retired in too
// large pieces.
inline constexpr std::uint64_t kLeastSegmentBytes = 16'384;
inline constexpr std::uint64_t kMostSegmentBytes = 1'073'741'824;
// While more records than this wait for the disk no socket is read.
inline constexpr std::uint64_t kWaitingRecordBytes = 67'108'864;
// A stop waits this long for replies to leave.
inline constexpr std::chrono::seconds kStopPatience{10};

}  // namespace xylem::limits
