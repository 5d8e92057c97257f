#include "app/redis.h"

#include <drogon/utils/Utilities.h>

#include <algorithm>

namespace turnstile {

Script::Script(std::string_view source)
    : source_(source), sha_(drogon::utils::getSha1(source_)) {
  // EVALSHA takes either case; lower is what SCRIPT LOAD prints.
  std::transform(sha_.begin(), sha_.end(), sha_.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
}

}  // namespace turnstile
