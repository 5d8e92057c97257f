#include "loadtest/output_dir.h"

#include <ctime>
#include <fstream>
#include <stdexcept>

namespace turnstile::harness {
namespace {

namespace fs = std::filesystem;

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

// A link is replaced by renaming a new one over it: at no moment is there none.
void link(const fs::path& directory, const fs::path& target) {
  const fs::path fresh = directory / ".latest.new";
  fs::remove(fresh);
  fs::create_directory_symlink(target, fresh);
  fs::rename(fresh, directory / "latest");
}

}  // namespace

std::string utcNow() { return utc("%Y-%m-%dT%H:%M:%SZ"); }

OutputDir::OutputDir(const fs::path& root, const fs::path& asked) {
  try {
    if (!asked.empty()) {
      path_ = fs::absolute(asked);
      fs::create_directories(path_);
      return;
    }
    const std::string time = utc("%Y%m%d-%H%M%S");
    std::string name = time;
    for (int n = 2; fs::exists(root / "out" / name); ++n) name = time + "-" + std::to_string(n);
    path_ = root / "out" / name;
    fs::create_directories(path_);
    link(root / "out", name);
  } catch (const fs::filesystem_error& e) {
    throw std::runtime_error(std::string("cannot make the output directory: ") + e.what());
  }
}

void OutputDir::write(const std::string& name, const std::string& text) const {
  const fs::path target = path_ / name, fresh = path_ / ("." + name + ".new");
  {
    std::ofstream file(fresh, std::ios::binary);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + fresh.string());
  }
  fs::rename(fresh, target);
}

}  // namespace turnstile::harness
