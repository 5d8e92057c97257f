// How a Redis command is put together. Drogon's client takes a printf-like format and hands it to hiredis, which makes three
// allocations and a sprintf a word: 11,400 instructions for the five words of a sale, a third of all that an
// instance spends on it. redis_format.cc therefore defines redisvFormatCommand() itself, and the linker prefers it to
// the library's: formats of the kind below are put together in one allocation, all others go on to hiredis. Where
// the linker does not, all of this still works, at hiredis' speed.
#pragma once

#include <cstddef>

namespace turnstile {

/// "%b %b …" for 1 to Args::kMost words. Each is then two arguments, where it starts and how long it is: what a caller sent is
/// never part of a format.
const char* formatOf(std::size_t words);

}  // namespace turnstile
