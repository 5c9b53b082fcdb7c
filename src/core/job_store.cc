// The block of a job is its fields, then the body itself; or the struct, then a BufferRef, if the
// body is a long one. Which of the two follows from body_bytes alone, so a job needs no field for
// it.
#include "job_store.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "xylem/check.h"
#include "xylem/core/limits.h"

namespace xylem {
namespace {

bool is_long(std::uint32_t body_bytes) { return body_bytes > limits::kInlineBodyBytes; }

std::size_t block_bytes(std::uint32_t body_bytes) {
  if (is_long(body_bytes)) return sizeof(Job) + sizeof(BufferRef);
  return std::max(sizeof(Job), kJobBytes + body_bytes);
}

char* short_body(Job& job) { return reinterpret_cast<char*>(&job) + kJobBytes; }

BufferRef* long_body(const Job& job) {
  char* place = reinterpret_cast<char*>(const_cast<Job*>(&job + 1));
  return std::launder(reinterpret_cast<BufferRef*>(place));
}

BufferRef copy_of(std::string_view body) {
  BufferRef copy = Buffer::make(static_cast<std::uint32_t>(body.size()) + 2);
  copy->append(body);
  copy->append("\r\n");
  return copy;
}

}  // namespace

std::string_view Job::body() const {
  const char* bytes =
      is_long(body_bytes) ? (*long_body(*this))->data() : short_body(const_cast<Job&>(*this));
  return {bytes, body_bytes};
}

Buffer* Job::buffer() const { return is_long(body_bytes) ? long_body(*this)->get() : nullptr; }

JobStore::~JobStore() {
  for (Job* job = at_or_after(1); job != nullptr; job = at_or_after(1)) destroy(*job);
}

Job& JobStore::make(JobId id, std::string_view body, Buffer* buffer) {
  const auto body_bytes = static_cast<std::uint32_t>(body.size());
  Job* job = new (slab_.allocate(block_bytes(body_bytes))) Job;
  job->id = id;
  job->body_bytes = body_bytes;
  if (is_long(body_bytes)) {
    new (long_body(*job)) BufferRef(buffer != nullptr ? BufferRef(buffer) : copy_of(body));
  } else if (body_bytes != 0) {
    std::memcpy(short_body(*job), body.data(), body_bytes);
  }
  index_.insert(id, *job);
  return *job;
}

void JobStore::destroy(Job& job) {
  index_.erase(job.id);
  const std::size_t bytes = block_bytes(job.body_bytes);
  if (is_long(job.body_bytes)) long_body(job)->~BufferRef();
  job.~Job();
  slab_.release(&job, bytes);
}

}  // namespace xylem
