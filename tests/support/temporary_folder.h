// TemporaryFolder: a real folder for a test that needs a real disk. It has a name of its own, so
// tests can run side by side, and is gone with all that is in it when its owner goes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace xylem::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "xylem-test-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) std::abort();
    path_ = path;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const std::string& name, std::string_view bytes) const {
    std::ofstream file(path_ + "/" + name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  // Of whatever can say what its bytes are.
  template <class Made>
  requires requires(const Made& made) { made.bytes(); }
  void write(const std::string& name, const Made& made) const { write(name, made.bytes()); }

 private:
  std::string path_;
};

}  // namespace xylem::test
