// The stamp without which no figure means anything: machine, versions of every server, how durable
// they were set, commit.
#pragma once

#include <json/value.h>

#include <filesystem>

namespace turnstile::harness {

// `stack` is stack.json; what cannot be found out is the string "unknown", never left out.
Json::Value environmentStamp(const std::filesystem::path& root, const std::filesystem::path& runDir,
                             const Json::Value& stack);

}  // namespace turnstile::harness
