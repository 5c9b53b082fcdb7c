// WriteAheadLog: the loop's side of the log. It gathers records into batches, decides where each
// batch goes, and hands out what the disk has to do as tasks, so that no call here waits for a
// disk.
//
//     append() -> [open batch] -> [closed batches] -begin_write()-> LogWrite -finish()-> durable
//
//     segments, oldest first:   [sealed] [sealed] ... [current]     [spare]
//                                ^ remove_oldest()     ^ batches     ^ allocated ahead
//
// Rules:
//  - One LogWrite and one LogChore at a time; run() on any thread, then finish() on the loop's.
//  - A batch stands whole in one segment. One that does not fit goes to the spare, which becomes
//    the current segment; for one that is larger than a segment the spare grows first. While there
//    is no spare that fits, batches wait, in order; so who has much to append asks room_for()
//    first.
//  - A batch is durable when a LogWrite that syncs, and that began after it was gathered, has ended
//    well. A segment is synced before anything is written to the next one, whatever was asked for,
//    so that a power cut loses the end of the log and never its middle. After an error nothing more
//    is written (design: "A full disk is not a failed disk").
//  - Only the oldest segments are ever removed: a job's put stands in the same segment as any later
//    record of it, or in an older one, so no delete is lost before the put that it is for.
//
// For a replicated log the same batches would come from the leader: append a batch, know when it is
// durable, read from an index, cut off from an index (segment.h: the first index of a segment).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xylem/core/record.h"
#include "xylem/result.h"
#include "xylem/storage/batch.h"
#include "xylem/storage/file.h"
#include "xylem/storage/recovery.h"
#include "xylem/storage/segment.h"

namespace xylem {

// What so many bytes take on disk.
std::uint64_t in_blocks(std::uint64_t bytes);

// Work for a disk, and what came of it.
class DiskTask {
 public:
  virtual ~DiskTask() = default;
  // Blocks. Touches files and its own members, nothing else.
  virtual void run() = 0;

  std::optional<Error> error;
};

// What headers say: the moment, and what counts as given by then.
struct LogMoment {
  Time cluster{};
  Time wall{};
  JobId last_id = 0;
  std::uint64_t last_bury_order = 0;
};

// Records that stand in another segment than was thought when they were made.
struct MovedRecords {
  SegmentNumber to = 0;
  std::vector<JobId> jobs;
  std::vector<std::string> paused_tubes;
};

// Batches to write, one behind the other, and files to sync.
class LogWrite final : public DiskTask {
 public:
  void run() override;

  // The caller tells the engine, before it executes anything else.
  std::vector<MovedRecords> moved;
  std::uint64_t record_count = 0;
  std::uint64_t bytes = 0;
  bool synced = false;  // whether it is to sync
  std::uint64_t sync_us = 0;

 private:
  friend class WriteAheadLog;
  // What is written to one file, in one piece; perhaps nothing, if it is only to be synced.
  struct Part {
    File* file;
    std::uint64_t at;
    std::vector<std::string_view> bytes;
  };
  Result<Done> perform();

  std::vector<Part> parts_;  // the oldest file first
  std::vector<std::unique_ptr<Batch>> batches_;
  std::deque<std::string> segment_headers_;
  BatchIndex last_index_ = 0;
};

// Files to make, grow, cut and remove.
class LogChore final : public DiskTask {
 public:
  void run() override;

 private:
  friend class WriteAheadLog;
  enum class Kind { kPrepareSpare, kTrim, kRemove };
  struct Removal {
    SegmentNumber number;
    bool set_aside;  // under another name
  };

  Result<Done> perform();
  Result<Done> prepare_spare();
  Result<Done> remove();

  Kind kind_ = Kind::kPrepareSpare;
  Directory* directory_ = nullptr;
  SegmentNumber number_ = 0;
  std::uint64_t bytes_ = 0;  // that the file is to have
  std::uint64_t bytes_before_ = 0;
  std::vector<Removal> removals_;
  std::unique_ptr<File> file_;  // made, or moved here to be used
  bool full_ = false;           // it could not have them; file_, if it is there, is as it was
};

class WriteAheadLog {
 public:
  // What is left to do for a start, which blocks: removes old spares, opens the last segment to go
  // on in it, allocates the spare. The directory must outlive the log. No space for a first segment
  // is an error.
  static Result<std::unique_ptr<WriteAheadLog>> open(Directory& directory,
                                                     std::uint64_t segment_bytes,
                                                     const Recovered& found);
  // Gives back what is allocated but not used: the spare and the end of the current segment.
  // Blocks; no task may be running. Nothing may be called after it.
  Result<Done> close();

  // --- Records ---------------------------------------------------------------------------------
  void append(const Record& record);
  // The batch of the last record, notes aside: what a reply that is made now waits for.
  [[nodiscard]] BatchIndex position() const { return position_; }
  // The batch of the last record or note.
  [[nodiscard]] BatchIndex newest() const;
  // All batches up to this one are on disk.
  [[nodiscard]] BatchIndex durable() const { return durable_; }
  // The last batch that was handed to a LogWrite.
  [[nodiscard]] BatchIndex placed() const { return last_placed_; }
  // Gathered, and not handed to a LogWrite yet.
  [[nodiscard]] std::uint64_t waiting_bytes() const;
  // Batches wait for a segment that takes them.
  [[nodiscard]] bool lacks_room() const { return lacks_room_; }
  // The segment in which a record that is made now will stand, if its batch fits there.
  [[nodiscard]] SegmentNumber current() const { return segments_.back().number; }

  // --- Writing ---------------------------------------------------------------------------------
  // Whether begin_write() has something to do, room or not.
  [[nodiscard]] bool has_work(bool sync) const;
  // Null: nothing to do, or no room; or a write is running; or the log has failed. It syncs if it
  // is asked to, or if it begins a segment.
  std::unique_ptr<LogWrite> begin_write(const LogMoment& moment, bool sync);
  void finish(std::unique_ptr<LogWrite> write);
  // Null: nothing to do, or a chore is running.
  std::unique_ptr<LogChore> begin_chore();
  // An error of a chore fails the log, but for the lack of space.
  void finish(std::unique_ptr<LogChore> chore);

  // No spare can be had, or none that what waits fits into. try_again() makes begin_chore() try it
  // once more.
  [[nodiscard]] bool is_full() const { return full_ || (lacks_room_ && refuses_large()); }
  // Some spare larger than a segment could not be had.
  [[nodiscard]] bool refuses_large() const { return refused_bytes_ != 0; }
  void try_again();

  // Whether a record of so many bytes that is appended now is sure to be written, with all that
  // waits in front of it. kNotYet: a chore or a write is on the way to tell; kNo: the disk has no
  // room for it, as far as the last try said.
  enum class Room : std::uint8_t { kYes, kNotYet, kNo };
  Room room_for(std::uint64_t record_bytes);
  // Whoever wants a larger spare asks again in each turn: then it is not needed any more.
  void forget_wishes();
  // For good; `error` tells why.
  [[nodiscard]] bool has_failed() const { return failure_.has_value(); }
  [[nodiscard]] const Error& failure() const { return *failure_; }
  void fail(Error error);

  // --- Space -----------------------------------------------------------------------------------
  // Of the segments that are not written to any more.
  [[nodiscard]] std::uint64_t sealed_bytes() const;
  struct Sealed {
    SegmentNumber number = 0;
    std::uint64_t bytes = 0;  // on disk
  };
  // The sealed segment that has so many older ones; none: there are not so many.
  [[nodiscard]] std::optional<Sealed> sealed(std::size_t older) const;
  // Whether any segment that has at least so many older ones is damaged, so that it must go.
  [[nodiscard]] bool damaged_from(std::size_t older) const;
  // On disk, by blocks, the spare included.
  [[nodiscard]] std::uint64_t total_bytes() const;
  // The same once there is a spare.
  [[nodiscard]] std::uint64_t most_bytes() const;
  [[nodiscard]] std::uint64_t segment_count() const { return segments_.size() + (spare_ ? 1 : 0); }
  [[nodiscard]] std::uint64_t segment_bytes() const { return segment_bytes_; }
  [[nodiscard]] SegmentNumber oldest() const { return segments_.front().number; }
  // What can be handed to writes before another spare is needed, whatever waits. More should not be
  // gathered: the disk may turn out to be full.
  [[nodiscard]] std::uint64_t room_ahead() const;
  // The current segment has not been written to: no header says yet which ids were given.
  [[nodiscard]] bool current_is_blank() const { return !segments_.back().has_header; }
  // What the current segment still takes beyond what waits.
  [[nodiscard]] std::uint64_t room() const;
  // So many of the oldest segments are sealed, nothing in them is needed any more, what replaces it
  // is durable, and so is a batch in a later segment: that one's header says which ids were given.
  void remove_oldest(std::size_t count);
  [[nodiscard]] bool is_removing() const { return removing_ != 0; }

 private:
  struct Segment {
    SegmentNumber number = 0;
    std::uint64_t bytes = 0;  // allocated
    std::uint64_t end = 0;    // of what was handed to writes
    std::uint64_t salt = 0;
    std::unique_ptr<File> file{};  // null: sealed and cut, or of an earlier process
    bool has_header = true;
    bool unsynced = false;  // true only for the newest two
    bool closed = false;    // has one batch that is larger than a segment
    bool damaged = false;
  };
  struct Gathered {
    std::unique_ptr<Batch> batch;
    SegmentNumber thought = 0;  // current() when it was begun
  };

  WriteAheadLog(Directory& directory, std::uint64_t segment_bytes, const Recovered& found);
  Result<Done> start(const Recovered& found);
  Result<Done> sync_newest();
  Result<Done> go_on_in(Segment& last);
  Result<Done> prepare_first_spares();
  [[nodiscard]] Error no_space() const;

  void begin_batch();
  void close_batch();
  void place(Gathered gathered, const LogMoment& moment, LogWrite& write);
  void begin_segment(Segment& segment, const LogMoment& moment, LogWrite& write);
  bool make_room(std::uint64_t bytes);
  void roll();
  void take_spare(LogChore& chore);
  void add(LogWrite& write, const Segment& segment, std::uint64_t at,
           const std::vector<std::string_view>& bytes);
  Segment* oldest_uncut();
  std::unique_ptr<LogChore> new_chore(LogChore::Kind kind, SegmentNumber number,
                                      std::uint64_t bytes);
  std::unique_ptr<LogChore> remove_segments();
  std::unique_ptr<LogChore> prepare_spare();
  std::unique_ptr<LogChore> cut(Segment& uncut);
  [[nodiscard]] std::uint64_t closing_bytes() const;
  [[nodiscard]] bool is_large(std::uint64_t batch_bytes) const {
    return kSegmentHeaderBytes + batch_bytes > segment_bytes_;
  }
  [[nodiscard]] bool wants_spare() const;

  Directory& directory_;
  std::uint64_t segment_bytes_;

  std::deque<Segment> segments_;  // oldest first; the last is the current one
  std::optional<Segment> spare_;
  std::uint64_t segments_bytes_ = 0;  // without the spare
  std::size_t damaged_count_ = 0;
  SegmentNumber last_number_ = 0;
  std::uint64_t wanted_spare_bytes_;
  std::uint64_t refused_bytes_ = 0;  // of a spare larger than a segment; 0: none was refused

  Gathered open_;
  std::deque<Gathered> closed_;
  std::uint64_t closed_bytes_ = 0;
  std::vector<std::unique_ptr<Batch>> unused_;  // with their memory

  BatchIndex last_placed_ = 0;
  BatchIndex position_ = 0;
  BatchIndex durable_ = 0;

  bool writing_ = false;
  bool lacks_room_ = false;
  bool busy_ = false;  // with a chore
  std::size_t removing_ = 0;
  bool full_ = false;
  bool tries_again_ = false;
  std::optional<Error> failure_;
};

}  // namespace xylem
