// DiskWorker: has one task at a time run in libuv's pool, and gives it back on the loop. The disk
// never holds the loop (design: "The turn").
#pragma once

#include <uv.h>

#include <memory>
#include <utility>

#include "xylem/check.h"

namespace xylem {

// Task has run(). Owner has `void done(std::unique_ptr<Task>)`, called on the loop when it ran.
template <class Task, class Owner>
class DiskWorker {
 public:
  DiskWorker(uv_loop_t& loop, Owner& owner) : loop_(loop), owner_(owner) { request_.data = this; }
  DiskWorker(const DiskWorker&) = delete;
  DiskWorker& operator=(const DiskWorker&) = delete;

  [[nodiscard]] bool busy() const { return task_ != nullptr; }

  // Must not be busy.
  void start(std::unique_ptr<Task> task) {
    CHECK(!busy());
    task_ = std::move(task);
    const auto work = [](uv_work_t* request) {
      static_cast<DiskWorker*>(request->data)->task_->run();
    };
    const auto after = [](uv_work_t* request, int) {
      auto* worker = static_cast<DiskWorker*>(request->data);
      worker->owner_.done(std::move(worker->task_));
    };
    CHECK(uv_queue_work(&loop_, &request_, work, after) == 0);
  }

 private:
  uv_loop_t& loop_;
  Owner& owner_;
  uv_work_t request_{};
  std::unique_ptr<Task> task_;
};

}  // namespace xylem
