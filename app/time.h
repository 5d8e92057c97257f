// Durations with their unit in the type. Nothing in Turnstile passes a bare int for a time.
#pragma once

#include <chrono>

namespace turnstile {

using Millis = std::chrono::milliseconds;
using Micros = std::chrono::microseconds;
using TimePoint = std::chrono::time_point<std::chrono::system_clock, Micros>;

}  // namespace turnstile
