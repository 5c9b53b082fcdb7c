// The main of a fuzz target where there is no libFuzzer: runs the files of the folder that is
// named, in order of their names, so that every build and compiler replays the corpus.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

bool run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  try {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    return true;
  } catch (const std::exception& broken) {
    std::fprintf(stderr, "%s: not so: %s\n", path.c_str(), broken.what());
    return false;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::vector<std::filesystem::path> paths(std::filesystem::directory_iterator(arguments[1]), {});
  std::ranges::sort(paths);
  const auto failed = paths.size() - static_cast<std::size_t>(std::ranges::count_if(paths, run));
  std::printf("%zu files, %zu failed\n", paths.size(), failed);
  return paths.empty() || failed > 0 ? 1 : 0;
}
