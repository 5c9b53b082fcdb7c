// JobStore: the memory of jobs and the way from an id to its job. It knows no states: a job that it
// makes is in no container, and one that it destroys must have left its own.
#pragma once

#include <string_view>

#include "xylem/core/buffer.h"
#include "xylem/core/id_index.h"
#include "xylem/core/job.h"
#include "xylem/core/slab.h"

namespace xylem {

class JobStore {
 public:
  explicit JobStore(PrepareMemory prepare) : slab_(prepare), index_(prepare) {}
  ~JobStore();
  JobStore(const JobStore&) = delete;
  JobStore& operator=(const JobStore&) = delete;

  // A job with `body`; a long one takes a share in `buffer`, or a copy if that is null. The id must
  // be new.
  Job& make(JobId id, std::string_view body, Buffer* buffer);
  void destroy(Job& job);

  [[nodiscard]] Job* find(JobId id) const { return index_.find(id); }
  // The first job, by id, that is not before `id`; null if there is none.
  [[nodiscard]] Job* at_or_after(JobId id) const { return index_.at_or_after(id); }
  [[nodiscard]] std::size_t size() const { return index_.size(); }

 private:
  Slab slab_;
  IdIndex<Job> index_;
};

}  // namespace xylem
