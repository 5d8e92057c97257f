// Where a comparison's files go: <checkout>/out/<UTC time>/ with a link out/latest, or exactly the
// directory asked for. Files are replaced whole, so that a reader (or a Ctrl-C) never meets half of
// one.
#pragma once

#include <filesystem>
#include <string>

namespace turnstile::harness {

class OutputDir {
 public:
  OutputDir(const std::filesystem::path& root, const std::filesystem::path& asked);

  void write(const std::string& name, const std::string& text) const;  // throws std::runtime_error
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string utcNow();  // 2026-01-31T12:59:59Z

}  // namespace turnstile::harness
